import { Context } from '@temporalio/activity';
import { runToolBody } from '../src/tools/run-tool-body.ts';
import type { Tool } from '../src/tools/tool-options.ts';
import { whileHeartbeating } from './heartbeat.ts';
import { cancellationOf, isWorkerShutdown, workerShutdown } from './worker-shutdown.ts';

/** The activity of a tool, under the tool's own name. Takes the arguments as the model sent them. */
export function createToolActivity(tool: Tool<any, any, any>) {
  return async (input: unknown): Promise<unknown> => {
    const context = Context.current();
    try {
      return await whileHeartbeating(() => runToolBody(tool, input, context.cancellationSignal));
    } catch (error) {
      const cancelled = await cancellationOf(context);
      throw isWorkerShutdown(cancelled) ? workerShutdown() : (cancelled ?? error);
    }
  };
}
