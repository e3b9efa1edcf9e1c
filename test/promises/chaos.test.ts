import { expect, test } from '@jest/globals';
import { runChaos } from '../kit/chaos.ts';
import { assertReplays } from '../kit/temporal.ts';

test.each([
  { seed: 1, continueAfterRecords: undefined },
  { seed: 2, continueAfterRecords: 12 },
])(
  'all runs finish alike under kill -9, pauses and stops, and no answered step is scheduled again ($seed)',
  async ({ seed, continueAfterRecords }) => {
    const report = await runChaos({
      seed,
      runs: 6,
      rounds: 4,
      attackMs: 15_000,
      ...(continueAfterRecords !== undefined && { continueAfterRecords }),
    });
    expect(report.attacks.kills + report.attacks.pauses + report.attacks.stops).toBeGreaterThan(2);
    expect(new Set(report.outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(report.turned).toEqual([]);
    expect(report.repeated).toEqual([]);
    await assertReplays(report.histories);
  },
);
