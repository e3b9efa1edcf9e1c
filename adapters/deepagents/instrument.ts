/** Patches each copy of Deep Agents once, where the copy is. Outside a run, what is patched does what it did. */
import * as deepagents from 'deepagents';
import { insideRun } from '../../src/loop/ask.ts';
import { instrumentEachCopy } from '../each-copy.ts';
import { addLoopTools } from '../langchain/tools.ts';
import { patchMethod } from '../patch-method.ts';
import { backendBehind, passBackend, recordBackend, unknownBackend } from './backends.ts';
import { dependency, others } from './dependencies.ts';
import { ownTool } from './own-tools.ts';
import { instrumentSessions } from './sessions.ts';

interface Adapter {
  ls(path: string): unknown;
  delete?(path: string): unknown;
}
interface Composite {
  default: Adapter;
  routes: Record<string, Adapter>;
}
interface Class {
  prototype: object;
}
interface Classes extends Record<(typeof NAMES)[number], Class> {
  StateBackend: typeof deepagents.StateBackend;
  createSummarizationMiddleware: typeof deepagents.createSummarizationMiddleware;
}

const RECORDED = ['FilesystemBackend', 'StoreBackend', 'BaseSandbox', 'ContextHubBackend'] as const;
/** Their classes differ from those above, so that their own methods are recorded, too. */
const DERIVED = ['LocalShellBackend', 'LangSmithSandbox'] as const;
const NAMES = [...RECORDED, ...DERIVED, 'StateBackend', 'CompositeBackend'] as const;

const instrumented = new WeakSet<object>();
const complete = new WeakSet<object>();

export function instrument(): void {
  const framework = { title: 'Deep Agents', packages: 'deepagents', supported: [dependency, ...others] };
  instrumentEachCopy(
    framework,
    deepagents,
    (exports) => !('StateBackend' in exports) || instrumentClasses(exports as Classes),
  );
  addLoopTools(ownTool);
}

function instrumentClasses(classes: Classes): boolean {
  if (!NAMES.every((name) => typeof classes[name] === 'function')) return false;
  for (const name of RECORDED) recordSubclasses(classes[name].prototype);
  for (const name of [...RECORDED, ...DERIVED]) recordBackend(classes[name].prototype);
  passBackend(classes.StateBackend.prototype);
  const backend = new classes.StateBackend();
  const { stateSchema } = classes.createSummarizationMiddleware({ model: '', backend });
  if (!instrumentSessions(stateSchema)) return false;
  return instrumentComposite(classes.CompositeBackend.prototype);
}

/** Deep Agents asks each backend which routes it has before it calls it, so that a user's own class is found, too. */
function recordSubclasses(prototype: object): void {
  const name = 'routePrefixes';
  if (Object.hasOwn(prototype, name)) return;
  Object.defineProperty(prototype, name, {
    configurable: true,
    get(this: object) {
      recordBackend(this);
      return undefined;
    },
    set(this: object, value: unknown) {
      Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
    },
  });
}

/** Its parts may have been put together before they were instrumented, and may be of a class that is not known here. */
function instrumentComposite(prototype: object): boolean {
  const prefixes = Object.getOwnPropertyDescriptor(prototype, 'routePrefixes');
  const { get } = (prefixes ?? {}) as { get?: (this: unknown) => unknown };
  if (!get) return false;
  if (instrumented.has(get)) return true;
  const getWhole = function (this: Composite) {
    if (insideRun()) completeParts(this);
    return get.call(this);
  };
  instrumented.add(getWhole);
  passBackend(prototype, ['ls']);
  Object.defineProperty(prototype, 'routePrefixes', { ...prefixes, get: getWhole });
  return patchMethod(prototype, 'delete', (original) => {
    return function (this: Composite, ...args) {
      if (insideRun()) completeParts(this);
      return original.apply(this, args);
    };
  });
}

function completeParts(composite: Composite): void {
  if (complete.has(composite)) return;
  for (const part of [composite.default, ...Object.values(composite.routes)]) {
    const backend = backendBehind(part) as Adapter | undefined;
    if (!backend) throw unknownBackend();
    // It was bound when it was put together.
    if (part.delete && backend.delete) part.delete = (path) => backend.delete!(path);
  }
  complete.add(composite);
}
