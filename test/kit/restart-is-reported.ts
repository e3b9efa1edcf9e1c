/** An agent whose worker is killed after two turns and two tools of so many milliseconds: what its report says then. */
import { expect } from '@jest/globals';
import { report } from '../../src/index.ts';
import { collectReport } from '../../src/report/collect.ts';
import { pageOf } from '../../src/report/page.ts';
import { duration } from '../../src/records/numbers.ts';
import { viewOf } from '../../src/report/view.ts';
import { scene } from './scene.ts';
import { client, until } from './temporal.ts';

/** As much as a tool may take beside its own work, on a busy machine. */
const BESIDE_MS = 1_500;

export async function restartIsReported(first: number, second: number): Promise<void> {
  await using stage = await scene('report-agents', {
    script: () => ({ text: 'ok', usage: { inputTokens: 1_000, outputTokens: 100 } }),
  });
  const worker = await stage.spawn({ env: { HANGS: 'yes' } });
  const handle = await stage.start('timed', [first, second]);
  const before = await until(async () => {
    const now = await handle.query(report);
    return now.total === 4 && now.inFlight[0]?.name === 'end' && now.steps;
  }, 'both tools are answered');
  expect(before.every(({ replayed }) => replayed === undefined)).toBe(true);
  await worker.kill();
  await stage.spawn();
  await handle.result();

  const tree = await collectReport(await client(), handle.workflowId);
  const { steps, usage } = tree.report;
  expect(steps.map(({ kind, name, replayed }) => [kind, name, replayed])).toEqual([
    ['turn', 'gpt-4.1', 1],
    ['tool', 'slow', 1],
    ['turn', 'gpt-4.1', 1],
    ['tool', 'slow', 1],
    ['step', 'end', undefined],
  ]);
  const own = { turns: 2, usage: { input: 2_000, output: 200 } };
  expect(usage.own).toMatchObject(own);
  expect(usage.replayed).toMatchObject({ ...own, restarts: 1, ms: expect.any(Number) });
  expect(usage.lost.turns).toBe(0);
  expect(stage.provider.requests).toHaveLength(2);
  // The loop was where it had been in far less than what the tools had taken.
  expect(usage.replayed.ms).toBeLessThan(first);
  const took = steps.map(({ askedAt, answeredAt }) => answeredAt - askedAt);
  for (const [no, ms] of [
    [1, first],
    [3, second],
  ] as const) {
    expect(took[no]).toBe(before[no]!.answeredAt - before[no]!.askedAt);
    expect(took[no]).toBeGreaterThanOrEqual(ms);
    expect(took[no]).toBeLessThan(ms + BESIDE_MS);
  }
  expect(pageOf(viewOf(tree, Date.now()))).toContain(
    `given again from its record 1 time; it took ${duration(took[3]!)} when it ran`,
  );
}
