/** What `runAgent` does, whichever package makes the agent. */
import type { BaseMessage } from '@langchain/core/messages';
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { unreadMessages } from '../../src/inbox.ts';
import { assertKnownOptions } from '../../src/known-options.ts';
import { insideRun } from '../../src/loop/ask.ts';

/** An agent of LangChain, or any compiled graph whose state has `messages`. */
export interface Invocable {
  invoke(input: any, config?: any): Promise<any>;
}

/** How an agent is run, whatever it is made of. */
export interface RunOptions {
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

const OPTIONS = ['agent', 'context', 'recursionLimit', 'signal', 'onMessage'] as const;

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
  const ask = async (messages: readonly unknown[]) => (await agent.invoke({ messages }, config)) as State;
  let state = await ask(typeof input === 'string' ? [{ role: 'user', content: input }] : input);
  while (options.onMessage === 'after' && insideRun()) {
    const said = (await unreadMessages()).map(({ text }) => text).join('\n\n');
    if (said === '') break;
    state = await ask([...(state.messages ?? []), { role: 'user', content: said }]);
  }
  if (state.__interrupt__)
    throw new UnsupportedError('Cannot ask people outside a run. Start the agent on Temporal.');
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
  const part = options.agent && parts.find((each) => options[each] !== undefined);
  if (part)
    throw new DeclarationError(
      `Cannot run the agent with "${part}": that is the agent's own. Set it where the agent is made.`,
    );
  if (!options.agent && !('model' in options && options.model !== undefined))
    throw new DeclarationError('Cannot run the agent: give it an "agent", or a "model" to make one of.');
}
