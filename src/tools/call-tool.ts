import { askStep } from '../loop/ask.ts';
import { currentPosition } from '../loop/current-loop.ts';
import { runToolBody } from './run-tool-body.ts';
import { stepOptions, type Tool, toolArguments } from './tool.ts';

/** Beats of a tool with a body come every second; this many without one mean that its worker is gone. */
const HEARTBEAT_TIMEOUT = '10 seconds';
const RETRY = { maximumAttempts: 3 };

/** A call of a tool inside a run: one durable step, approval included. */
export async function callTool<Result>(tool: Tool<any, any, Result>, input: unknown): Promise<Result> {
  const { name, execute, readOnly, version, requiresApproval } = tool.options;
  const args: unknown = await toolArguments(tool, input);
  const served = !execute || tool.options.taskQueue !== undefined || currentPosition()!.loop.serves(tool);
  const options = { ...(execute && served && { heartbeatTimeout: HEARTBEAT_TIMEOUT }), ...stepOptions(tool) };
  const approval = requiresApproval
    ? { prompt: requiresApproval === true ? `Run ${name}?` : await requiresApproval(args) }
    : undefined;
  return await askStep<Result>({
    kind: 'tool',
    name,
    request: { arguments: args, version },
    input,
    ...(readOnly && { readOnly }),
    ...(approval && { approval }),
    ...(served
      ? { options }
      : {
          options: { retry: RETRY, ...options },
          closure: async (signal) => ({ value: await runToolBody(tool, input, signal) }),
        }),
  });
}
