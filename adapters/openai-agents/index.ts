/** Runs agents of the OpenAI Agents SDK durably. Importing this instruments the SDK: its own `run` is durable in a run. */
import type {
  Agent,
  AgentConfiguration,
  AgentInputItem,
  AgentOutputType,
  ModelSettings,
  Runner,
  Tool as SdkTool,
} from '@openai/agents';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { unreadMessages } from '../../src/inbox.ts';
import { assertKnownOptions } from '../../src/known-options.ts';
import { insideRun } from '../../src/loop/ask.ts';
import type { Tool } from '../../src/tools/tool-options.ts';
import { type ConversationOptions, ConversationSession } from './conversation-session.ts';
import { copyOf, instrument, instrumentAgent, instrumentRunner } from './instrument.ts';
import { toAgentTool } from './tools.ts';

export { type ConversationOptions, ConversationSession, type WhenBusy } from './conversation-session.ts';
export { toAgentTool } from './tools.ts';

instrument();

/** What the agent is made of; not beside `agent`. */
export interface AgentParts<Context = unknown, Output extends AgentOutputType<any> = 'text'> {
  /** @default 'Agent' */
  name?: string;
  instructions?: AgentConfiguration<Context, Output>['instructions'];
  /** A name, or a model of the SDK. @default the SDK's */
  model?: AgentConfiguration<Context, Output>['model'];
  modelSettings?: ModelSettings;
  /** Tools of this package and of the SDK. */
  tools?: readonly (Tool<any, any, any> | SdkTool<Context>)[];
  handoffs?: AgentConfiguration<Context, Output>['handoffs'];
  /** A zod schema of the output. @default text */
  outputType?: Output;
}

/** The agent to run, or what to make one of. */
export interface RunAgentOptions<Context = unknown, Output extends AgentOutputType<any> = 'text'>
  extends AgentParts<Context, Output>, ConversationOptions {
  /** Your own agent, as it is. */
  agent?: Agent<Context, Output>;
  /** Your own runner, as it is. @default the SDK's */
  runner?: Runner;
  /** What tools and instructions get as their context. */
  context?: Context;
  /** @default the SDK's, 10 */
  maxTurns?: number;
  signal?: AbortSignal;
  /**
   * `'after'`: when the agent is done, and people have sent messages meanwhile (the signal `message`), it is run again with
   * those, in the same conversation, until there are none. Without it, only `inbox` reads them. Outside a run, nobody can
   * send any.
   */
  onMessage?: 'after';
  /**
   * Goes on in the conversation under this key of memory, and adds to it. Any text of 1 to 1,000 characters, such as a
   * customer's id; runs of all agents share it. Only in a run. @default the agent knows of nothing but the input
   */
  memoryKey?: string;
}

/** What an `outputType` says. */
export type FinalOutput<Output> = Output extends 'text'
  ? string
  : Output extends StandardSchemaV1
    ? StandardSchemaV1.InferOutput<Output>
    : unknown;

const PARTS = ['name', 'instructions', 'model', 'modelSettings', 'tools', 'handoffs', 'outputType'] as const;
const OF_CONVERSATIONS = ['conversation', 'whenBusy', 'onFork'] as const;
const OPTIONS = new Set<string>([
  ...PARTS,
  ...OF_CONVERSATIONS,
  'agent',
  'runner',
  'context',
  'maxTurns',
  'signal',
  'onMessage',
  'memoryKey',
]);

/**
 * Asks an agent, and gives its final output: text, or what `outputType` says.
 * @throws DeclarationError for options that do not exist or do not go together, and for `memoryKey` outside a run;
 *   ConversationBusyError with `whenBusy: 'reject'`
 */
export async function runAgent<Context = unknown, Output extends AgentOutputType<any> = 'text'>(
  input: string | AgentInputItem[],
  options: RunAgentOptions<Context, Output> = {},
): Promise<FinalOutput<Output>> {
  assertOptions(options);
  const { agent = makeAgent(options), runner, context, maxTurns, signal } = options;
  instrumentAgent(agent);
  if (runner) instrumentRunner(runner);
  const run: typeof Runner.prototype.run = runner ? runner.run.bind(runner) : copyOf(agent).run;
  const session = options.memoryKey === undefined ? undefined : sessionOf(options.memoryKey, options);
  const how = {
    ...(context !== undefined && { context }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(signal && { signal }),
    ...(session && { session }),
  };
  let result = await run(agent, input, how);
  while (options.onMessage === 'after' && insideRun()) {
    const said = (await unreadMessages()).map(({ text }) => text).join('\n\n');
    if (said === '') break;
    result = await run(agent, session ? said : [...result.history, { role: 'user', content: said }], how);
  }
  const waiting = result.interruptions?.map((item) => item.name).join(', ');
  if (waiting)
    throw new UnsupportedError(
      `Cannot ask for approval of ${waiting} outside a run. Start the agent on Temporal.`,
    );
  return result.finalOutput as FinalOutput<Output>;
}

function makeAgent<Context, Output extends AgentOutputType<any>>(
  options: AgentParts<Context, Output>,
): Agent<Context, Output> {
  const { Agent } = copyOf(undefined);
  const { name = 'Agent', tools = [], instructions, model, modelSettings, handoffs, outputType } = options;
  return new Agent<Context, Output>({
    name,
    tools: tools.map((tool) => (typeof tool === 'function' ? toAgentTool<Context>(tool) : tool)),
    ...(instructions !== undefined && { instructions }),
    ...(model !== undefined && { model }),
    ...(modelSettings && { modelSettings }),
    ...(handoffs && { handoffs }),
    ...(outputType !== undefined && { outputType }),
  });
}

function sessionOf(
  memoryKey: string,
  { conversation, whenBusy, onFork }: ConversationOptions,
): ConversationSession {
  return new ConversationSession(memoryKey, {
    ...(conversation !== undefined && { conversation }),
    ...(whenBusy !== undefined && { whenBusy }),
    ...(onFork && { onFork }),
  });
}

function assertOptions(options: RunAgentOptions<any, any>): void {
  assertKnownOptions(options, OPTIONS, 'Cannot run the agent');
  if (options.onMessage !== undefined && options.onMessage !== 'after')
    throw new DeclarationError(`Cannot run the agent: "onMessage" can only be 'after'.`);
  const lone = OF_CONVERSATIONS.find((each) => options[each] !== undefined);
  if (lone && options.memoryKey === undefined)
    throw new DeclarationError(`Cannot run the agent with "${lone}" and no "memoryKey".`);
  const part = options.agent && PARTS.find((each) => options[each] !== undefined);
  if (part)
    throw new DeclarationError(
      `Cannot run agent ${options.agent!.name} with "${part}": that is the agent's own. Set it where the agent is made.`,
    );
}
