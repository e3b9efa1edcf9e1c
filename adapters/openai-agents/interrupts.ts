/** Where the SDK interrupts itself because a tool needs approval, a run asks a person and goes on. */
import type { FunctionTool, RunState, RunToolApprovalItem } from '@openai/agents';
import { askStep } from '../../src/loop/ask.ts';
import type { Decision } from '../../src/protocol/advance.ts';

type AnyFunctionTool = FunctionTool<any, any, any>;

/** What the SDK's runs answer, as far as approvals are concerned. */
export interface Interruptible {
  readonly interruptions?: readonly RunToolApprovalItem[];
  readonly state: RunState<any, any>;
}

/** What the SDK knows of a tool's arguments and policy; neither public nor in its older versions. */
export interface ToolInternals {
  prepareFunctionToolInput(tool: AnyFunctionTool, input: string): { result: PreparedInput } | undefined;
  hasDynamicFunctionToolApprovalPolicy(tool: AnyFunctionTool): boolean;
}
type PreparedInput = { success: true; value: unknown } | { success: false };

/** Of each loaded copy of the SDK. */
export const toolInternals = new Set<ToolInternals>();

/**
 * Asks a person for every approval that a result waits for, and puts the decisions into its state, with which the agent
 * is then run again.
 */
export async function askApprovals({ interruptions = [], state }: Interruptible): Promise<void> {
  await Promise.all(
    interruptions.map(async (item) => {
      const name = item.name ?? 'tool';
      const { action, operation, providerData } = item.rawItem as {
        action?: unknown;
        operation?: unknown;
        /** Where a call that the provider makes has its arguments. */
        providerData?: { arguments?: string };
      };
      const input = parsed(item.arguments ?? providerData?.arguments) ?? action ?? operation;
      const { approved, reason } = await askStep<Decision>({
        kind: 'approval',
        name,
        request: { tool: name, arguments: input, agent: item.agent.name },
        input,
        approval: { prompt: `Run ${name}?` },
      });
      if (approved) state.approve(item);
      else state.reject(item, reason === undefined ? {} : { message: reason });
    }),
  );
}

/** Goes on with a run until nothing in it waits for a person. */
export async function untilDecided(
  start: () => Promise<Interruptible>,
  resume: (state: Interruptible['state']) => Promise<Interruptible>,
): Promise<Interruptible> {
  let result = await start();
  while (result.interruptions?.length) {
    await askApprovals(result);
    result = await resume(result.state);
  }
  return result;
}

/** The policy for a copy of a tool: the SDK gives arguments as the schema makes them only to tools it knows. */
export function approvalPolicy(tool: AnyFunctionTool): AnyFunctionTool['needsApproval'] {
  const copies = [...toolInternals];
  if (!copies.every((copy) => copy.hasDynamicFunctionToolApprovalPolicy(tool))) return tool.needsApproval;
  return async (context, args, callId) => {
    const input = JSON.stringify(args);
    const prepared = copies.map((copy) => copy.prepareFunctionToolInput(tool, input)).find((each) => each);
    if (!prepared?.result.success) return await tool.needsApproval(context, args, callId);
    const { value } = prepared.result;
    const inspectable = typeof value === 'object' && value !== null && !Array.isArray(value);
    return !inspectable || (await tool.needsApproval(context, value, callId));
  };
}

/** A call's arguments as data; as text, where the model did not send JSON. */
export function parsed(args: string | undefined): unknown {
  try {
    return JSON.parse(args!);
  } catch {
    return args;
  }
}
