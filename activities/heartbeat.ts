import { Context } from '@temporalio/activity';

const EVERY = 1_000;

/**
 * Heartbeats the current activity once a second while the work runs, so that its worker's death is noticed.
 * @throws CancelledFailure as soon as the activity is cancelled, whatever the work does
 */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), EVERY);
  try {
    return await Promise.race([work(), context.cancelled]);
  } finally {
    clearInterval(timer);
  }
}
