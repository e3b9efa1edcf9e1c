import type { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';

/** Whether an activity was cancelled because its worker stops; not a cancel of the run, and no failure of the step. */
export function isWorkerShutdown(error: unknown): error is CancelledFailure {
  return error instanceof CancelledFailure && error.message === 'WORKER_SHUTDOWN';
}

/**
 * What an activity throws then. Thrown as it is, the SDK would report a retryable failure, and the retry would count
 * against the step.
 */
export function workerShutdown(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('The worker was shut down.', 'WorkerShutdownError');
}

/** Why an activity was cancelled, or `undefined`: its work may fail of the cancellation in any way of its own. */
export async function cancellationOf(context: Context): Promise<CancelledFailure | undefined> {
  if (!context.cancellationSignal.aborted) return undefined;
  return await context.cancelled.catch((reason: CancelledFailure) => reason);
}
