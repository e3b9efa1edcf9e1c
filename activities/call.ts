import { Context } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { toApplicationFailure } from '../src/errors/failure.ts';
import { providerFailure } from '../src/errors/provider-failure.ts';
import type { LoopHost } from '../src/loop/loop-host.ts';
import type { CallResult } from '../src/protocol/advance.ts';
import { TURN } from '../src/protocol/names.ts';
import { goAhead } from './go-ahead.ts';
import { whileHeartbeating } from './heartbeat.ts';
import { storedAnswer } from './stored-answer.ts';
import { cancellationOf, isWorkerShutdown, workerShutdown } from './worker-shutdown.ts';

/**
 * Activity: runs a closure of a loop that lives in this process (a model turn, a named step, a framework's own tool).
 * Its id is the step's key. An attempt that comes while an earlier one still runs here joins it, so that a slow host
 * taken for a dead one pays nothing twice; where the loop is not, it answers `moved`.
 */
export function createCall(host: LoopHost) {
  return async (edited?: { arguments: unknown }): Promise<CallResult> => {
    const context = Context.current();
    const { activityId: key, activityType, workflowExecution, startToCloseTimeoutMs } = context.info;
    const { runId } = workflowExecution!;
    const id = `${runId}/${key}`;
    const loop = host.find(runId);
    const step = loop?.stepOf(key);
    const of = step && { kind: step.kind, name: step.name, chain: loop!.chain };
    const closure = loop?.closure(key);
    const run = closure && ((signal: AbortSignal) => closure(signal, edited));
    const call = host.calls.join(id, run, startToCloseTimeoutMs, of);
    if (!call) return { moved: true };
    try {
      return await whileHeartbeating(async () => {
        const given = await call.result;
        const what = `The result of ${call.kind} ${call.name}`;
        const stored = await storedAnswer(host.storage, call.chain, given, what);
        const usd = given.usage && (await host.prices.usdOf(call.name, given.usage));
        const ahead = await goAhead(host, key, given);
        return { ...stored, ...(usd !== undefined && { usd }), ...(ahead && { ahead }) };
      });
    } catch (error) {
      const cancelled = await cancellationOf(context);
      // A timeout, or a run that is gone, says nothing about the call: only a cancel and a shutdown end it.
      if (cancelled && (cancelled.message === 'CANCELLED' || isWorkerShutdown(cancelled)))
        call.abort.abort(cancelled);
      const { reason } = call.abort.signal as { reason: unknown };
      const why = cancelled ?? (reason instanceof CancelledFailure ? reason : undefined);
      if (why) throw isWorkerShutdown(why) ? workerShutdown() : why;
      throw activityType === TURN ? providerFailure(error) : toApplicationFailure(error, true);
    } finally {
      host.calls.leave(id, call);
    }
  };
}
