/**
 * What the SDK's shell, patch and computer tools do in this process are steps. None is ever done twice: of one whose
 * worker vanished, the model is told that nobody knows. What a restart does not rebuild is the state of a shell's
 * container, or of a browser.
 */
import type { Tool } from '@openai/agents';
import { askStep } from '../../src/loop/ask.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { plainJson } from '../plain-json.ts';
import { currentSdkRun } from './sdk-run.ts';

/** Such a tool, by its type. */
type ActingTool = {
  type: string;
  shell?: object;
  editor?: object;
  computer?: object | ((...args: any[]) => unknown);
  environment?: { type: string };
};

const EDITOR = ['createFile', 'updateFile', 'deleteFile'];
/** These change nothing that another could not change again. */
const READS = ['screenshot', 'wait', 'move'];
const COMPUTER = [...READS, 'click', 'doubleClick', 'scroll', 'type', 'keypress', 'drag'];
const watched = new WeakSet<object>();

/** Has a run record what a tool does in this process. @returns whether it is one that acts here */
export function instrumentActions(tool: Tool<any>): boolean {
  const { type, shell, editor, environment } = tool as ActingTool;
  if (type === 'shell' && shell && (environment?.type ?? 'local') === 'local')
    instrument(shell, 'shell', ['run']);
  else if (type === 'apply_patch' && editor) instrument(editor, 'apply_patch', EDITOR);
  else if (type === 'computer') instrumentComputer(tool as ActingTool);
  else return false;
  return true;
}

/** A computer is there, or the SDK makes one for each run and puts it into the tool. */
function instrumentComputer(tool: ActingTool): void {
  let { computer } = tool;
  const found = (value: typeof computer) => {
    if (typeof value === 'object' && 'screenshot' in value) instrument(value, 'computer', COMPUTER);
  };
  found(computer);
  if (watched.has(tool)) return;
  watched.add(tool);
  Object.defineProperty(tool, 'computer', {
    configurable: true,
    enumerable: true,
    get: () => computer,
    set: (next: typeof computer) => {
      if (currentSdkRun()) found(next);
      computer = next;
    },
  });
}

function instrument(target: object, tool: string, methods: readonly string[]): void {
  for (const name of methods) {
    patchMethod(target, name, (method) => {
      return function (this: unknown, ...args) {
        if (!currentSdkRun()) return method.apply(this, args);
        const act = async (): Promise<unknown> => await method.apply(this, args);
        return record(tool === 'shell' ? tool : `${tool}.${name}`, args, act);
      };
    });
  }
}

async function record(name: string, args: unknown[], act: () => Promise<unknown>): Promise<unknown> {
  // Behind what is to be done stands the context of the run.
  const what = name.startsWith('computer.') ? args.filter((arg) => !isObject(arg)) : args[0];
  const { timeoutMs } = (isObject(what) ? what : {}) as { timeoutMs?: number };
  const reads = READS.some((each) => name === `computer.${each}`);
  return await askStep({
    kind: 'tool',
    name,
    request: { arguments: what },
    input: what,
    ...(reads && { readOnly: true }),
    options: {
      onUncertain: reads ? 'retry' : 'fail',
      ...(timeoutMs !== undefined && { startToCloseTimeout: timeoutMs + 60_000 }),
    },
    closure: keepContext(async () => {
      const answer = await act();
      return answer === undefined ? {} : { value: plainJson(answer) };
    }),
  });
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
