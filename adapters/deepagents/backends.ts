/** What a backend reads, writes and executes is a step, whoever asks it: a tool, or middleware that loads and offloads. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { DeclarationError } from '../../src/errors/index.ts';
import { askStep, insideRun, scopeKey } from '../../src/loop/ask.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import { runBody } from '../langchain/step-body.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { comparableArguments, plainResult, revivedResult, subjectOf } from './backend-values.ts';
import { changeAgain } from './done-before.ts';

/** A backend, as far as it must be known here. */
export interface Backend {
  readRaw?(path: string): unknown;
}
type Call = (...args: unknown[]) => unknown;

const READS = new Set([
  'ls',
  'lsInfo',
  'read',
  'readRaw',
  'grep',
  'grepRaw',
  'glob',
  'globInfo',
  'downloadFiles',
]);
const WRITES = ['write', 'edit', 'delete', 'uploadFiles', 'execute'];
/** All methods of the protocol, in both its versions. */
const METHODS = [...READS, ...WRITES];

const watched = new AsyncLocalStorage<{ backend?: object; only?: true }>();

const passed = new WeakSet<object>();

/** Whether it is of a class that is left as it is. */
export function isKnown(backend: object): boolean {
  for (let of: object | null = backend; of; of = Object.getPrototypeOf(of) as object | null)
    if (passed.has(of)) return true;
  return false;
}

/** Has what a backend does recorded, where its methods are: on its class, or the object itself. */
export function recordBackend(backend: object): void {
  for (const method of METHODS) {
    patchMethod(backend, method, (original) => {
      return function (this: Backend, ...args) {
        const call: Call = (...own) => original.apply(this, own);
        return seen(this) ?? (insideRun() ? askBackend(this, method, args, call) : call(...args));
      };
    });
  }
}

/**
 * A backend that keeps files in the graph's state, or hands calls on to others: what it does must happen again, since the
 * state is made again.
 */
export function passBackend(prototype: object, methods: readonly string[] = METHODS): void {
  passed.add(prototype);
  for (const method of methods) {
    patchMethod(prototype, method, (original) => {
      return function (this: object, ...args) {
        return seen(this) ?? original.apply(this, args);
      };
    });
  }
}

/** Runs code that should come to a backend that is known here. @returns also whether it did */
export async function withBackend<T>(body: () => Promise<T>): Promise<{ result: T; known: boolean }> {
  const seeing: { backend?: object } = {};
  const result = await watched.run(seeing, body);
  return { result, known: seeing.backend !== undefined };
}

/** The backend that an object of Deep Agents' own calls; `undefined`: it is not known here, and has listed its files. */
export function backendBehind(adapter: { ls(path: string): unknown }): object | undefined {
  const seeing: { backend?: object; only: true } = { only: true };
  const listed = watched.run(seeing, async () => await adapter.ls('/'));
  listed.catch(() => {});
  return seeing.backend;
}

/** Says that this backend was called. @returns an answer if that is all that is asked */
function seen(backend: object): object | undefined {
  const seeing = watched.getStore();
  if (!seeing) return undefined;
  seeing.backend = backend;
  return seeing.only && {};
}

/** A backend whose calls could not be recorded. */
export function unknownBackend(): DeclarationError {
  return new DeclarationError(
    'Cannot run the agent with its backend: it is of a class that this package does not know, so that nothing it does would be recorded. Give it as durableBackend(backend), also within a CompositeBackend.',
  );
}

async function askBackend(backend: Backend, method: string, args: unknown[], call: Call): Promise<unknown> {
  const name = `${backend.constructor.name}.${method}`;
  const request = { arguments: comparableArguments(args) };
  const position = { ...currentPosition()!, scope: scopeKey('body', name, request) };
  try {
    const value = await askStep<unknown>({
      kind: 'tool',
      name,
      request,
      input: subjectOf(args),
      ...(READS.has(method) && { readOnly: true as const }),
      // Whatever else was under way when its worker vanished can be done again, or shows whether it was done.
      ...(method === 'execute' && { options: { onUncertain: 'fail' as const } }),
      closure: keepContext(async (_signal, again) => {
        const once = async () => await runBody(position, async () => await call(...args));
        return { value: plainResult(await (again ? changeAgain(backend, method, args, once) : once())) };
      }),
    });
    return revivedResult(value);
  } catch (error) {
    if (method !== 'execute' || (error as Error).name !== 'UncertainStepError') throw error;
    return { output: `Error: ${(error as Error).message}`, exitCode: null, truncated: false };
  }
}
