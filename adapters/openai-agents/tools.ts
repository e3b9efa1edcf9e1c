/** A call of the SDK's function tool is a step. A tool of ours is one that the SDK can call. */
import {
  type Agent,
  type FunctionTool,
  invokeFunctionTool,
  type RunContext,
  tool as sdkTool,
  type Tool as SdkTool,
  ToolTimeoutError,
} from '@openai/agents';
import { ToolRejectedError, UnsupportedError } from '../../src/errors/index.ts';
import { askStep, insideRun, scopeKey } from '../../src/loop/ask.ts';
import { runInScope } from '../../src/loop/current-loop.ts';
import { assertRecordable } from '../../src/loop/recordable.ts';
import { callForModel, noteAndResult } from '../../src/tools/call-for-model.ts';
import { isSchema } from '../../src/tools/schema.ts';
import type { Tool } from '../../src/tools/tool-options.ts';
import { eitherSignal } from '../either-signal.ts';
import { keepContext } from '../keep-context.ts';
import { plainJson } from '../plain-json.ts';
import { instrumentActions } from './actions.ts';
import { approvalPolicy, parsed } from './interrupts.ts';
import { isServed } from './mcp.ts';

type AnyFunctionTool = FunctionTool<any, any, any>;
type ToolCallDetails = Parameters<AnyFunctionTool['invoke']>[2];

/** Ours, as the SDK has them; and copies of the SDK's own whose calls are recorded. */
const converted = new WeakMap<object, AnyFunctionTool>();
const durable = new WeakMap<object, AnyFunctionTool>();

/** An agent's tools as the SDK is to see them. Outside a run, only ours are other than they were. */
export function toolsOf(agent: Agent<any, any>, given: readonly unknown[]): readonly unknown[] {
  const tools = given.some(isOurs) ? given.map((tool) => (isOurs(tool) ? toAgentTool(tool) : tool)) : given;
  return insideRun() ? tools.map((tool) => durableTool(tool as SdkTool<any>, agent)) : tools;
}

/**
 * One of our tools as a function tool of the SDK. Inside a run its call is an activity by its own name, with its retries
 * and its approval; outside it just runs. The model is told of failures in the SDK's words.
 */
export function toAgentTool<Context = unknown>(tool: Tool<any, any, any>): FunctionTool<Context, any, any> {
  const agentTool = converted.get(tool) ?? convert(tool);
  converted.set(tool, agentTool);
  durable.set(agentTool, agentTool);
  return agentTool;
}

function convert(tool: Tool<any, any, any>): AnyFunctionTool {
  const { name, description, parameters } = tool.options;
  const execute = async (input: unknown): Promise<unknown> => {
    try {
      return await callForModel(tool, input, withNote);
    } catch (error) {
      if (!(error instanceof ToolRejectedError)) throw error;
      return error.message === `${name} was not approved.`
        ? 'Tool execution was not approved.'
        : error.message;
    }
  };
  if (isSchema(parameters) && parameters['~standard'].vendor === 'zod') {
    try {
      return sdkTool({ name, description, parameters: parameters as any, execute });
    } catch {
      // The provider's strict mode cannot express it: a transform.
    }
  }
  return sdkTool({
    name,
    description,
    parameters: plainJson(tool.jsonSchema) as any,
    strict: false,
    execute,
  });
}

function isOurs(tool: unknown): tool is Tool<any, any, any> {
  return typeof tool === 'function' && 'origin' in tool && 'jsonSchema' in tool;
}

/** The tool with its calls recorded: a copy with all that the SDK hangs on it, so that the user's own stays as it is. */
function durableTool(tool: SdkTool<any>, agent: Agent<any, any>): SdkTool<any> {
  if (tool.type !== 'function') {
    const { providerData } = tool as { providerData?: Record<string, unknown> };
    if (instrumentActions(tool) || providerData?.['execution'] !== 'client') return tool;
    throw new UnsupportedError(
      `Cannot run tool ${tool.name} of agent ${agent.name}: this version does not record what a tool of type "${tool.type}" does in this process. Make it a function tool.`,
    );
  }
  if (isServed(tool)) return tool;
  const known = durable.get(tool);
  if (known) return known;
  const copy = Object.create(
    Object.getPrototypeOf(tool),
    Object.getOwnPropertyDescriptors(tool),
  ) as AnyFunctionTool;
  Object.assign(copy, {
    invoke: async (context: RunContext<any>, input: string, details: ToolCallDetails) =>
      await (insideRun() ? invoke(tool, context, input, details) : tool.invoke(context, input, details)),
    needsApproval: approvalPolicy(tool),
    // Enforced inside the step; outside, it would count the wait for a worker too.
    timeoutMs: undefined,
  });
  durable.set(tool, copy).set(copy, copy);
  return copy;
}

async function invoke(
  tool: AnyFunctionTool,
  context: RunContext<any>,
  input: string,
  details: ToolCallDetails,
): Promise<unknown> {
  const { name, timeoutMs } = tool;
  const args = parsed(input);
  // An agent as a tool is a loop of its own: its steps are recorded, not its call.
  if ('on' in tool) {
    const scope = scopeKey('agent-tool', name, { arguments: args });
    return await runInScope(scope, () => tool.invoke(context, input, details));
  }
  const { toolCall, signal: siblings } = details ?? {};
  const namespace = toolCall?.namespace;
  const toolName = namespace === undefined ? name : `${namespace}.${name}`;
  const approved = toolCall && context.isToolApproved({ toolName, callId: toolCall.callId }) === true;
  try {
    return await askStep({
      kind: 'tool',
      name,
      request: { arguments: args, namespace },
      input: args,
      options: {
        ...(timeoutMs !== undefined && { startToCloseTimeout: timeoutMs + 60_000 }),
        ...(approved && { onUncertain: 'ask' as const }),
      },
      closure: keepContext(async (signal) => {
        const own = {
          ...(toolCall && { toolCall }),
          signal: eitherSignal(signal, siblings),
        };
        const output: unknown = await invokeFunctionTool({ tool, runContext: context, input, details: own });
        const value = withoutBytes(output);
        assertRecordable(value, `The result of tool ${name}`);
        return { value };
      }),
    });
  } catch (error) {
    if (timeoutMs === undefined || (error as Error).name !== 'ToolTimeoutError') throw error;
    throw Object.assign(new ToolTimeoutError({ toolName: name, timeoutMs }), { cause: error });
  }
}

/** Images and files that a tool returns may hold bytes, which the SDK sends as base64. */
function withoutBytes(output: unknown): unknown {
  return isStructured(output) ? plainJson(output) : output;
}

/** Texts, images and files, which the SDK sends as what they are. */
function isStructured(output: unknown): boolean {
  const parts = [output].flat() as ({ type?: unknown } | null)[];
  return parts.length > 0 && parts.every((part) => ['text', 'image', 'file'].includes(String(part?.type)));
}

function withNote(note: string, result: unknown): unknown {
  return isStructured(result) ? [{ type: 'text', text: note }, result].flat() : noteAndResult(note, result);
}
