/** Runs agents of LangChain and graphs of LangGraph durably. Importing this instruments both: `invoke` is durable in a run. */
import type { BaseMessage } from '@langchain/core/messages';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { StructuredToolInterface } from '@langchain/core/tools';
import type { Tool } from '../../src/tools/tool-options.ts';
import { instrument } from './instrument.ts';
import { runMade, type RunOptions } from './run-agent.ts';
import { asAgentTools } from './tools.ts';

export { nodesAsSteps } from './node-steps.ts';
export { type ThreadOptions, type WhenBusy } from './agent-thread.ts';
export type { Invocable } from './run-agent.ts';
export { toAgentTool } from './tools.ts';

instrument();

/** What the agent is made of by `createAgent`; not beside `agent`. */
export interface AgentParts {
  name?: string;
  /** A name, `openai:gpt-4.1-mini`, or a model of LangChain. */
  model?: string | BaseChatModel;
  /** Tools of this package and of LangChain. */
  tools?: readonly (Tool<any, any, any> | StructuredToolInterface)[];
  systemPrompt?: string | BaseMessage;
  /** LangChain's middleware, as it is. */
  middleware?: readonly unknown[];
  /** A schema of the output. @default text */
  responseFormat?: unknown;
}

/** The agent to run, or what to make one of. */
export interface RunAgentOptions extends AgentParts, RunOptions {}

const PARTS = ['name', 'model', 'tools', 'systemPrompt', 'middleware', 'responseFormat'] as const;

/**
 * Asks an agent, and gives its final output: text, or what `responseFormat` says; the state of a graph without messages.
 * @throws DeclarationError for options that do not exist or do not go together, and for `memoryKey` outside a run;
 *   ConversationBusyError with `whenBusy: 'reject'`
 */
export async function runAgent<Output = string>(
  input: string | readonly unknown[],
  options: RunAgentOptions = {},
): Promise<Output> {
  const make = async ({ tools = [], ...parts }: AgentParts) => {
    const { createAgent } = await import('langchain');
    return createAgent({ ...(parts as object), model: parts.model!, tools: asAgentTools(tools) });
  };
  return (await runMade<AgentParts>(input, options, { parts: PARTS, make })) as Output;
}
