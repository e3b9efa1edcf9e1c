/** Runs that wait for a person, and what their agents noted before and after their worker was killed. */
import type { WorkflowHandle } from '@temporalio/client';
import { type PendingApproval, waiting } from '../../src/index.ts';
import { effects } from './effects.ts';
import { until } from './temporal.ts';

/** Waits until as many approvals wait as are named, and gives them. */
export async function untilWaiting(
  handle: WorkflowHandle,
  ids: readonly string[] = ['gate-1'],
): Promise<PendingApproval[]> {
  return await until(
    async () => {
      // While no worker lives, nobody answers a query.
      const { approvals } = await handle.query(waiting).catch(() => ({ approvals: [] as PendingApproval[] }));
      return ids.every((id) => approvals.some((pending) => pending.id === id)) && approvals;
    },
    `${handle.workflowId} waits for ${ids.join(', ')}`,
  );
}

/** What `note('saw …')` said under a name, by process, in order: a loop that was built again says it again. */
export function sightings(log: string, name: string): { pid: number; saw: unknown }[] {
  const start = `saw ${JSON.stringify(name)} `;
  return effects(log)
    .filter(({ what }) => what.startsWith(start))
    .map(({ pid, what }) => ({ pid, saw: JSON.parse(what.slice(start.length)) as unknown }));
}
