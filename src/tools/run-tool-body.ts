import { Context } from '@temporalio/activity';
import { toApplicationFailure } from '../errors/failure.ts';
import { runOutside } from '../loop/current-loop.ts';
import { assertRecordable } from '../loop/recordable.ts';
import type { CacheCaller, CachedAnswer, ToolCache } from './tool-cache.ts';
import { type Tool, toolArguments } from './tool-options.ts';

/** Our own activity ids: the chain's first run id and the step's key. */
const OUR_ACTIVITY_ID = /^(?<chain>[0-9a-f-]{36}):(?<key>[0-9a-f]{24}.*)$/;

/** The run and the step that an activity is for; `undefined`: it is none of ours. */
export function ourActivity(activityId: string): { chain: string; key: string } | undefined {
  return OUR_ACTIVITY_ID.exec(activityId)?.groups as { chain: string; key: string } | undefined;
}

/**
 * Runs a tool's body inside an activity.
 * @throws ApplicationFailure: retryable if the body threw, not retryable if trying again cannot help
 */
export async function runToolBody(
  tool: Tool<any, any, any>,
  input: unknown,
  signal: AbortSignal,
  cache?: ToolCache,
): Promise<CachedAnswer> {
  const { name, execute, cache: rule = 'off' } = tool.options;
  try {
    const args = await toolArguments(tool, input);
    const body = async (): Promise<unknown> => {
      const result = await runOutside(
        async () => await execute!(args, { idempotencyKey: idempotencyKey(), signal }),
      );
      assertRecordable(result, `The result of tool ${name}`);
      return result;
    };
    if (!cache || rule === 'off') return { value: await body() };
    return await cache.through(tool, args, caller(input, signal), body);
  } catch (error) {
    throw toApplicationFailure(error);
  }
}

function caller(input: unknown, signal: AbortSignal): CacheCaller {
  const { info, client } = Context.current();
  const { workflowId, runId } = info.workflowExecution!;
  return {
    namespace: info.activityNamespace,
    workflowId,
    runId,
    chain: ourActivity(info.activityId)?.chain ?? runId,
    converter: client.options.loadedDataConverter,
    input,
    signal,
  };
}

/** For a call that a user's own workflow schedules: made from that run and its activity id, so equal for its attempts. */
function idempotencyKey(): string {
  const { activityId, workflowExecution } = Context.current().info;
  return ourActivity(activityId) ? activityId : `${workflowExecution?.runId ?? ''}:${activityId}`;
}
