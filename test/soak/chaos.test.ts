import { expect, test } from '@jest/globals';
import { runChaos } from '../kit/chaos.ts';
import { assertReplays } from '../kit/temporal.ts';

/** `TEST_SOAK=10,11,12` names the seeds. */
const seeds = (process.env['TEST_SOAK'] ?? '')
  .split(',')
  .map(Number)
  .filter((seed) => seed > 1);
const all = seeds.length > 0 ? seeds : [11, 12, 13, 14, 15, 16];

test.each(all)(
  'all runs finish alike under a long attack (seed %d)',
  async (seed) => {
    const report = await runChaos({
      seed,
      runs: 12,
      rounds: 6,
      attackMs: 40_000,
      ...(seed % 2 === 0 && { continueAfterRecords: 15 }),
    });
    process.stdout.write(
      `seed ${seed}: ${JSON.stringify(report.attacks)}, ${report.histories.length} histories\n`,
    );
    expect(new Set(report.outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(report.turned).toEqual([]);
    expect(report.repeated).toEqual([]);
    // One attack costs a body that it meets one more run.
    const { kills, pauses, stops } = report.attacks;
    expect(Math.max(...Object.values(report.bodies))).toBeLessThanOrEqual(1 + kills + pauses + stops);
    await assertReplays(report.histories);
  },
  300_000,
);
