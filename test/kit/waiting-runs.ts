/** Runs that wait for a person, and what their agents noted before and after their worker was killed. */
import type { WorkflowHandle } from '@temporalio/client';
import { type PendingApproval, type PendingQuestion, waiting } from '../../src/index.ts';
import { effects } from './effects.ts';
import { client, until } from './temporal.ts';

/** Waits until as many approvals wait as are named, and gives them. */
export async function untilWaiting(
  handle: WorkflowHandle,
  ids: readonly string[] = ['gate-1'],
): Promise<PendingApproval[]> {
  return await until(
    async () => {
      const approvals = await pendingOf(handle);
      return ids.every((id) => approvals.some((pending) => pending.id === id)) && approvals;
    },
    `${handle.workflowId} waits for ${ids.join(', ')}`,
  );
}

/** Waits until as many questions wait as are named, and gives them in that order. */
export async function untilAsked(handle: WorkflowHandle, ids: readonly string[]): Promise<PendingQuestion[]> {
  return await until(
    async () => {
      const { questions } = await handle.query(waiting).catch(() => ({ questions: [] as PendingQuestion[] }));
      const found = ids.flatMap((id) => questions.filter((pending) => pending.id === id));
      return found.length === ids.length && found;
    },
    `${handle.workflowId} asks ${ids.join(', ')}`,
  );
}

/** Waits until an approval waits, or the run is over; answers whether it waits. */
export async function untilWaitingOrOver(handle: WorkflowHandle, id: string): Promise<boolean> {
  const seen = await until(async () => {
    if ((await handle.describe()).status.name !== 'RUNNING') return 'over';
    return (await pendingOf(handle)).some((pending) => pending.id === id) && 'waits';
  }, `${handle.workflowId} waits for ${id} or ends`);
  return seen === 'waits';
}

/** While no worker lives, nobody answers a query; one that a killed worker had taken, the server gives up after 30 s. */
async function pendingOf(handle: WorkflowHandle): Promise<PendingApproval[]> {
  const query = async () => await handle.query(waiting);
  const answered = (await client()).withDeadline(Date.now() + 5_000, query);
  const { approvals } = await answered.catch(() => ({ approvals: [] as PendingApproval[] }));
  return approvals;
}

/** What `note('saw …')` said under a name, by process, in order: a loop that was built again says it again. */
export function sightings(log: string, name: string): { pid: number; saw: unknown }[] {
  const start = `saw ${JSON.stringify(name)} `;
  return effects(log)
    .filter(({ what }) => what.startsWith(start))
    .map(({ pid, what }) => ({ pid, saw: JSON.parse(what.slice(start.length)) as unknown }));
}
