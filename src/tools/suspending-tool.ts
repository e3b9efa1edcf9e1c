import { agent, type Agent } from '../agent.ts';
import { currentPosition } from '../loop/current-loop.ts';
import { restartsOf } from '../records/outcomes.ts';
import { retryPolicy } from './retries-and-timeouts.ts';
import { type Tool, toolArguments } from './tool-options.ts';

/** What serves a tool that suspends: an agent of its name, whose runs are its calls. */
export function suspendingTool(tool: Tool<any, any, any>): Agent {
  const { name, execute, retries } = tool.options;
  const run = async (input: unknown, { signal }: { signal: AbortSignal }): Promise<unknown> => {
    const args: unknown = await toolArguments(tool, input);
    // One that somebody else starts, as a workflow, is a call of its own.
    const { chain, source } = currentPosition()!.loop;
    return (await execute!(args, { idempotencyKey: source.idempotencyKey ?? chain, signal })) as unknown;
  };
  return agent(name, run, retries === undefined ? {} : { retries: restartsOf(retryPolicy(retries)) });
}
