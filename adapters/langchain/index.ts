/** Runs agents of LangChain and graphs of LangGraph durably. Importing this instruments both: `invoke` is durable in a run. */
import type { BaseMessage } from '@langchain/core/messages';
import type { BaseLanguageModel } from '@langchain/core/language_models/base';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { unreadMessages } from '../../src/inbox.ts';
import { assertKnownOptions } from '../../src/known-options.ts';
import { insideRun } from '../../src/loop/ask.ts';
import type { Tool } from '../../src/tools/tool-options.ts';
import { inThread, type ThreadOptions } from './agent-thread.ts';
import { instrument } from './instrument.ts';
import { isOurs, toAgentTool } from './tools.ts';

export { nodesAsSteps } from './node-steps.ts';
export { type ThreadOptions, type WhenBusy } from './agent-thread.ts';
export { toAgentTool } from './tools.ts';

instrument();

/** An agent of LangChain, or any compiled graph whose state has `messages`. */
export interface Invocable {
  invoke(input: any, config?: any): Promise<any>;
}

/** What the agent is made of by `createAgent`; not beside `agent`. */
export interface AgentParts {
  name?: string;
  /** A name, `openai:gpt-4.1-mini`, or a model of LangChain. */
  model?: string | BaseLanguageModel;
  /** Tools of this package and of LangChain. */
  tools?: readonly (Tool<any, any, any> | StructuredToolInterface)[];
  systemPrompt?: string | BaseMessage;
  /** LangChain's middleware, as it is. */
  middleware?: readonly unknown[];
  /** A schema of the output. @default text */
  responseFormat?: unknown;
}

/** The agent to run, or what to make one of. */
export interface RunAgentOptions extends AgentParts, ThreadOptions {
  /** Your own agent or graph, as it is. */
  agent?: Invocable;
  /** What tools and middleware get as their context. */
  context?: unknown;
  /** How many supersteps a graph may take. @default LangGraph's */
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

interface State {
  messages?: BaseMessage[];
  structuredResponse?: unknown;
  __interrupt__?: unknown[];
}

const PARTS = ['name', 'model', 'tools', 'systemPrompt', 'middleware', 'responseFormat'] as const;
const OF_THREADS = ['conversation', 'whenBusy', 'onFork'] as const;
const OPTIONS = new Set<string>([
  ...PARTS,
  ...OF_THREADS,
  'agent',
  'context',
  'recursionLimit',
  'signal',
  'onMessage',
  'memoryKey',
]);

/**
 * Asks an agent, and gives its final output: text, or what `responseFormat` says; the state of a graph without messages.
 * @throws DeclarationError for options that do not exist or do not go together, and for `memoryKey` outside a run;
 *   ConversationBusyError with `whenBusy: 'reject'`
 */
export async function runAgent<Output = string>(
  input: string | readonly unknown[],
  options: RunAgentOptions = {},
): Promise<Output> {
  assertOptions(options);
  const { agent = await makeAgent(options), context, recursionLimit, signal } = options;
  const config = {
    ...(context !== undefined && { context }),
    ...(recursionLimit !== undefined && { recursionLimit }),
    ...(signal && { signal }),
  };
  const { memoryKey } = options;
  const talk = async (inThreadOf: object) => {
    const ask = async (messages: readonly unknown[]) =>
      (await agent.invoke({ messages }, { ...config, ...inThreadOf })) as State;
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
    throw new UnsupportedError('Cannot ask people outside a run. Start the agent on Temporal.');
  return outputOf(state) as Output;
}

async function makeAgent(options: AgentParts): Promise<Invocable> {
  const { model, tools = [] } = options;
  if (model === undefined)
    throw new DeclarationError('Cannot run the agent: give it an "agent", or a "model" to make one of.');
  const { createAgent } = await import('langchain');
  const parts = PARTS.filter((part) => options[part] !== undefined).map((part) => [part, options[part]]);
  const own = tools.map((tool) => (isOurs(tool) ? toAgentTool(tool) : tool));
  return createAgent({ ...Object.fromEntries(parts), tools: own });
}

function outputOf(state: State): unknown {
  if (state.structuredResponse !== undefined) return state.structuredResponse;
  return Array.isArray(state.messages) ? (state.messages.at(-1)?.text ?? '') : state;
}

function assertOptions(options: RunAgentOptions): void {
  assertKnownOptions(options, OPTIONS, 'Cannot run the agent');
  if (options.onMessage !== undefined && options.onMessage !== 'after')
    throw new DeclarationError(`Cannot run the agent: "onMessage" can only be 'after'.`);
  const lone = OF_THREADS.find((each) => options[each] !== undefined);
  if (lone && options.memoryKey === undefined)
    throw new DeclarationError(`Cannot run the agent with "${lone}" and no "memoryKey".`);
  const part = options.agent && PARTS.find((each) => options[each] !== undefined);
  if (part)
    throw new DeclarationError(
      `Cannot run the agent with "${part}": that is the agent's own. Set it where the agent is made.`,
    );
}
