import { expect, test } from '@jest/globals';
import { runChaos } from '../kit/chaos.ts';
import { assertReplays } from '../kit/temporal.ts';

// More seeds, and longer attacks, are in the soak.
test('all runs finish alike under kill -9, pauses and stops, and no answered step is scheduled again', async () => {
  const report = await runChaos({ seed: 2, runs: 6, rounds: 4, attackMs: 15_000, continueAfterRecords: 12 });
  const { kills, pauses, stops } = report.attacks;
  const attacks = kills + pauses + stops;
  expect(attacks).toBeGreaterThan(2);
  expect(new Set(report.outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
  expect(report.turned).toEqual([]);
  expect(report.repeated).toEqual([]);
  // One attack costs a body that it meets one more run.
  expect(Math.max(...Object.values(report.bodies))).toBeLessThanOrEqual(1 + attacks);
  await assertReplays(report.histories);
});
