import { Context } from '@temporalio/activity';
import type { LoopHost } from '../src/loop/loop-host.ts';
import { withWorstCosts } from '../src/prices/price-turns.ts';
import type { Advance, AdvanceInput, WatchResult } from '../src/protocol/advance.ts';
import { whileHeartbeating } from './heartbeat.ts';
import { isWorkerShutdown } from './worker-shutdown.ts';

/** Local activity: lets the run's loop in this process go on, or builds it. */
export function createAdvance(host: LoopHost) {
  return async (input: AdvanceInput): Promise<Advance> => {
    const { info, client } = Context.current();
    const { runId, workflowId } = info.workflowExecution!;
    return await withWorstCosts(host.prices, await host.advance({ runId, workflowId, client }, input));
  };
}

/** Activity on the host's own queue: holds a loop that is busy with its own work, so that the host's death is noticed. */
export function createAwaitLoop(host: LoopHost) {
  return async (epoch: string, seen: number, quietFor: number): Promise<WatchResult> => {
    const { runId } = Context.current().info.workflowExecution!;
    try {
      return await whileHeartbeating(() => host.watch(runId, epoch, seen, quietFor));
    } catch (error) {
      if (isWorkerShutdown(error)) return 'gone';
      throw error;
    }
  };
}
