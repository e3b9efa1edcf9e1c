import { askStep } from '../loop/ask.ts';
import { currentPosition } from '../loop/current-loop.ts';
import { approvalFor } from './approval-rule.ts';
import { runToolBody } from './run-tool-body.ts';
import { stepOptions, type Tool, toolArguments } from './tool-options.ts';

const RETRY = { maximumAttempts: 3 };

/** A call of a tool inside a run: one durable step, approval included. */
export async function callTool<Result>(tool: Tool<any, any, Result>, input: unknown): Promise<Result> {
  const { name, execute, readOnly, version, requiresApproval } = tool.options;
  const args: unknown = await toolArguments(tool, input);
  const { loop } = currentPosition()!;
  const { toolCache } = loop.source.storage;
  const served = !execute || tool.options.taskQueue !== undefined || loop.serves(tool.origin);
  const options = stepOptions(tool);
  const approval = await approvalFor(name, requiresApproval, args);
  return await askStep<Result>({
    kind: 'tool',
    name,
    request: { arguments: args, version },
    input,
    ...(readOnly && { readOnly }),
    ...(approval && { approval }),
    ...(served
      ? { options, ...(execute && { heartbeats: true }) }
      : {
          options: { retry: RETRY, ...options },
          closure: async (signal) => await runToolBody(tool, input, signal, toolCache),
        }),
  });
}
