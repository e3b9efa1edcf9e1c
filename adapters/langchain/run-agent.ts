/** What `runAgent` does, whichever package makes the agent. */
import type { BaseMessage } from '@langchain/core/messages';
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { unreadMessages } from '../../src/inbox.ts';
import { assertKnownOptions } from '../../src/known-options.ts';
import { insideRun } from '../../src/loop/ask.ts';
import { inThread, type ThreadOptions } from './agent-thread.ts';

/** An agent of LangChain, or any compiled graph whose state has `messages`. */
export interface Invocable {
  invoke(input: any, config?: any): Promise<any>;
}

/** How an agent is run, whatever it is made of. */
export interface RunOptions extends ThreadOptions {
  /** Your own agent or graph, as it is. */
  agent?: Invocable;
  /** What tools and middleware get as their context. */
  context?: unknown;
  /** How many supersteps a graph may take. @default the agent's own */
  recursionLimit?: number;
  signal?: AbortSignal;
  /**
   * `'after'`: when the agent is done, and people have sent messages meanwhile (the signal `message`), it is run again with
   * those, in the same conversation, until there are none. Without it, only `inbox` reads them. Outside a run, nobody can
   * send any.
   */
  onMessage?: 'after';
  /**
   * Goes on in the thread under this key of memory: the whole state of the graph comes back, its messages, files and what
   * else it has. Any text of 1 to 1,000 characters, such as a customer's id. Only in a run. @default the agent knows of
   * nothing but the input
   */
  memoryKey?: string;
}

/** What an agent is made of where none is given. */
interface Making<Parts extends object> {
  parts: readonly (keyof Parts & string)[];
  /** @param given the parts that have a value */
  make: (given: Partial<Parts>) => Promise<Invocable>;
}

interface State {
  messages?: BaseMessage[];
  structuredResponse?: unknown;
  __interrupt__?: unknown[];
}

const OF_THREADS = ['conversation', 'whenBusy', 'onFork'] as const;
const OPTIONS = [
  'agent',
  'context',
  'recursionLimit',
  'signal',
  'onMessage',
  'memoryKey',
  ...OF_THREADS,
] as const;

/** @throws DeclarationError for options that do not exist or do not go together */
export async function runMade<Parts extends object>(
  input: string | readonly unknown[],
  options: Parts & RunOptions,
  { parts, make }: Making<Parts>,
): Promise<unknown> {
  assertOptions(options, parts);
  const given = parts.filter((part) => options[part] !== undefined).map((part) => [part, options[part]]);
  const { agent = await make(Object.fromEntries(given) as Partial<Parts>) } = options;
  const { context, recursionLimit, signal } = options;
  const config = {
    ...(context !== undefined && { context }),
    ...(recursionLimit !== undefined && { recursionLimit }),
    ...(signal && { signal }),
  };
  const { memoryKey } = options;
  const talk = async (thread: object) => {
    const ask = async (messages: readonly unknown[]) =>
      (await agent.invoke({ messages }, { ...config, ...thread })) as State;
    let answered = await ask(typeof input === 'string' ? [{ role: 'user', content: input }] : input);
    while (options.onMessage === 'after' && insideRun()) {
      const said = (await unreadMessages()).map(({ text }) => text).join('\n\n');
      if (said === '') break;
      // A thread has what was said before.
      const before = memoryKey === undefined ? (answered.messages ?? []) : [];
      answered = await ask([...before, { role: 'user', content: said }]);
    }
    return answered;
  };
  const state = memoryKey === undefined ? await talk({}) : await inThread(memoryKey, agent, options, talk);
  if (state.__interrupt__)
    throw new UnsupportedError(
      insideRun()
        ? 'Cannot go on: the graph stopped at a breakpoint of interruptBefore or interruptAfter, which asks nobody. Ask by interrupt(), or run the graph yourself.'
        : 'Cannot ask people outside a run. Start the agent on Temporal.',
    );
  return outputOf(state);
}

function outputOf(state: State): unknown {
  if (state.structuredResponse !== undefined) return state.structuredResponse;
  return Array.isArray(state.messages) ? (state.messages.at(-1)?.text ?? '') : state;
}

function assertOptions<Parts extends object>(
  options: Parts & RunOptions,
  parts: readonly (keyof Parts & string)[],
): void {
  assertKnownOptions(options, new Set([...parts, ...OPTIONS]), 'Cannot run the agent');
  if (options.onMessage !== undefined && options.onMessage !== 'after')
    throw new DeclarationError(`Cannot run the agent: "onMessage" can only be 'after'.`);
  const lone = OF_THREADS.find((each) => options[each] !== undefined);
  if (lone && options.memoryKey === undefined)
    throw new DeclarationError(`Cannot run the agent with "${lone}" and no "memoryKey".`);
  const part = options.agent && parts.find((each) => options[each] !== undefined);
  if (part)
    throw new DeclarationError(
      `Cannot run the agent with "${part}": that is the agent's own. Set it where the agent is made.`,
    );
  if (!options.agent && !('model' in options && options.model !== undefined))
    throw new DeclarationError('Cannot run the agent: give it an "agent", or a "model" to make one of.');
}
