/** Approves what a run waits for; the same signal and query for all subjects. */
import { approve, waiting } from 'temporal-agents/client';
import { until, type Run } from './stage.ts';

/** Resolves with the id of what waits for approval, once something does. */
export async function waitingId(run: Run): Promise<string> {
  return await until(
    // An overloaded worker may be too slow for a query.
    async () => (await run.query(waiting).catch(() => undefined))?.approvals[0]?.id,
    `a wait for approval in ${run.workflowId}`,
    600_000,
  );
}

/** Approves, and gives the time at which the signal was sent. */
export async function sendApproval(run: Run, id: string): Promise<number> {
  const sentAt = Date.now();
  await run.signal(approve, { id });
  return sentAt;
}
