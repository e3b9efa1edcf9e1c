/** Runs Deep Agents durably. Importing this instruments them and what they are built on: `invoke` is durable in a run. */
import type { StructuredToolInterface } from '@langchain/core/tools';
import type { AsyncSubAgent, CompiledSubAgent, CreateDeepAgentParams, SubAgent } from 'deepagents';
import type { Tool } from '../../src/tools/tool-options.ts';
import { runMade, type RunOptions } from '../langchain/run-agent.ts';
import { asAgentTools } from '../langchain/tools.ts';
import { durableBackend } from './durable-backend.ts';
import { instrument } from './instrument.ts';

export type { Invocable } from '../langchain/run-agent.ts';
export { toAgentTool } from '../langchain/index.ts';
export { asSubAgent, type AgentAsSubAgent } from './as-sub-agent.ts';
export { durableBackend } from './durable-backend.ts';

instrument();

const OWN = [
  'name',
  'model',
  'systemPrompt',
  'backend',
  'memory',
  'skills',
  'interruptOn',
  'permissions',
  'store',
] as const;
const PARTS = [...OWN, 'tools', 'subagents', 'middleware', 'responseFormat'] as const;

type Tools = readonly (Tool<any, any, any> | StructuredToolInterface)[];
/** One of Deep Agents, whose tools may be of this package. */
interface OwnSubAgent extends Omit<SubAgent, 'tools'> {
  tools?: Tools;
}

/** What the agent is made of by `createDeepAgent`, in its words; not beside `agent`. */
export interface DeepAgentParts extends Pick<CreateDeepAgentParams, (typeof OWN)[number]> {
  /** Tools of this package and of LangChain. */
  tools?: Tools;
  /** Deep Agents' own specifications, whose tools may be of this package, too, and agents of this package by `asSubAgent`. */
  subagents?: readonly (OwnSubAgent | CompiledSubAgent | AsyncSubAgent)[];
  /** LangChain's middleware, as it is. */
  middleware?: readonly unknown[];
  /** A schema of the output. @default text */
  responseFormat?: unknown;
}

/** The agent to run, or what to make one of. */
export interface RunAgentOptions extends DeepAgentParts, RunOptions {}

/**
 * Asks a deep agent, and gives its final output: text, or what `responseFormat` says.
 * @throws DeclarationError for options that do not exist or do not go together
 */
export async function runAgent<Output = string>(
  input: string | readonly unknown[],
  options: RunAgentOptions = {},
): Promise<Output> {
  return (await runMade<DeepAgentParts>(input, options, { parts: PARTS, make: makeAgent })) as Output;
}

async function makeAgent({ tools = [], subagents = [], backend, ...parts }: DeepAgentParts) {
  const { createDeepAgent } = await import('deepagents');
  return createDeepAgent({
    ...parts,
    ...(backend && { backend: durable(backend) }),
    tools: asAgentTools(tools),
    subagents: subagents.map(withAgentTools),
  } as Parameters<typeof createDeepAgent>[0]);
}

type Given = NonNullable<DeepAgentParts['backend']>;

function durable(backend: Given): Given {
  return typeof backend === 'function' ? (...of) => durableBackend(backend(...of)) : durableBackend(backend);
}

function withAgentTools<Spec extends object>(spec: Spec): Spec {
  const { tools } = spec as { tools?: Tools };
  return tools ? { ...spec, tools: asAgentTools(tools) } : spec;
}
