/** Runs that may spend so much, and what they spent. */
import type { WorkflowHandle } from '@temporalio/client';
import { type Budget, report, waiting } from '../../src/index.ts';
import type { ProviderScript } from '../../src/testing/index.ts';
import type { Scene } from './scene.ts';
import { assertReplays, chainOf, client, unique, until } from './temporal.ts';
import { QUICK_START } from './workers.ts';

/** A cent a token out, nothing in: a turn may cost 10 cents and costs 8. */
export const plugin = { prices: { 'gpt-4.1': { input: 0, output: 10_000 } } };
export const MOST = { maxOutputTokens: 10 };
export const WORST = 0.1;
export const COST = 0.08;
export const script: ProviderScript = () => ({
  text: 'ok',
  usage: { inputTokens: 5, outputTokens: 8 },
  delayMs: 60,
});

export async function start(
  stage: Scene,
  agent: string,
  input: unknown,
  budget?: Budget,
): Promise<WorkflowHandle> {
  const { taskQueue } = stage;
  const memo = budget && { budget: { ...MOST, ...budget } };
  return await (
    await client()
  ).workflow.start(agent, {
    taskQueue,
    workflowId: unique(agent),
    args: [input],
    ...(memo && { memo }),
    ...QUICK_START,
  });
}

export const failureOf = async (handle: WorkflowHandle) =>
  await handle.result().then(
    () => undefined,
    ({ cause }: { cause: { type: string; message: string } }) => cause,
  );

/** The most that was ever spent or under way, each turn under way taken at its worst. */
export function peak({ provider }: Scene): number {
  const changes = provider.requests.flatMap(({ at, answeredAt }) => [
    { at, by: WORST },
    { at: answeredAt ?? Infinity, by: COST - WORST },
  ]);
  let [now, most] = [0, 0];
  for (const { by } of changes.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** Asserts that this run and those below it replay. */
export async function assertAllReplay(handle: WorkflowHandle): Promise<void> {
  await assertReplays(await chainOf(handle));
  const { steps } = await handle.query(report);
  const { workflow } = await client();
  for (const { child } of steps) if (child !== undefined) await assertAllReplay(workflow.getHandle(child));
}

export const waits = (handle: WorkflowHandle, id: string) =>
  until(async () => (await handle.query(waiting)).approvals.find((one) => one.id === id), id);
