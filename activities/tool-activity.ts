import { Context } from '@temporalio/activity';
import { ourActivity, runToolBody } from '../src/tools/run-tool-body.ts';
import type { RunStorage } from '../src/blobs/run-storage.ts';
import type { LoopHost } from '../src/loop/loop-host.ts';
import type { ToolEnvelope } from '../src/protocol/advance.ts';
import { AHEAD } from '../src/protocol/names.ts';
import type { Tool } from '../src/tools/tool-options.ts';
import { goAhead } from './go-ahead.ts';
import { whileHeartbeating } from './heartbeat.ts';
import { storedAnswer } from './stored-answer.ts';
import { cancellationOf, isWorkerShutdown, workerShutdown } from './worker-shutdown.ts';

/**
 * The activity of a tool, under the tool's own name. Takes the arguments as the model sent them; answers the result, or an
 * envelope with what the run's loop asks next.
 * @param host of the agents of this worker
 */
export function createToolActivity(tool: Tool<any, any, any>, storage: RunStorage, host?: LoopHost) {
  return async (input: unknown): Promise<unknown> => {
    const context = Context.current();
    try {
      return await whileHeartbeating(async () => {
        const { cancellationSignal: signal, info } = context;
        const { value, cached } = await runToolBody(tool, input, signal, storage.toolCache);
        const ours = ourActivity(info.activityId);
        if (!ours) return value; // of a user's own workflow
        const what = `The result of tool ${tool.options.name}`;
        const stored = await storedAnswer(storage, ours.chain, { value }, what);
        const ahead = host && (await goAhead(host, ours.key, { value }));
        const looksSo = typeof value === 'object' && value !== null && Object.hasOwn(value, AHEAD);
        if (!ahead && !looksSo && !stored.blob && !cached) return value;
        return { ...stored, ...(cached && { cached }), [AHEAD]: ahead ?? null } satisfies ToolEnvelope;
      });
    } catch (error) {
      const cancelled = await cancellationOf(context);
      throw isWorkerShutdown(cancelled) ? workerShutdown() : (cancelled ?? error);
    }
  };
}
