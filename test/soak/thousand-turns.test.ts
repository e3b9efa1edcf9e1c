/** A run as long as they come. */
import { expect, test } from '@jest/globals';
import { blobScene } from '../kit/blob-scene.ts';
import { chainOf, eventsOf, repeatedSteps, until } from '../kit/temporal.ts';

test('1,000 turns and 3,000 steps go through continue-as-new, killed at step 900, and nothing is repeated', async () => {
  await using stage = await blobScene('marathon-agents');
  const first = await stage.spawn();
  const handle = await stage.start('marathon', { id: 'm', turns: 1_000 });
  await until(() => stage.provider.requests.length >= 300, 'step 900', 300_000);
  await first.kill();
  await stage.spawn();
  expect(await handle.result()).toEqual({ turns: 1_000, marked: 2_000 });
  const histories = await chainOf(handle);
  const events = histories.reduce((sum, { events: own }) => sum + own!.length, 0);
  const builds = eventsOf(histories, 'markerRecorded').length;
  process.stdout.write(`${histories.length} histories, ${events} events, ${builds} markers\n`);
  expect(histories.length).toBeGreaterThan(1);
  expect(repeatedSteps(histories)).toEqual([]);
  expect(stage.provider.requests.length).toBeLessThanOrEqual(1_001);
  expect(Object.keys(stage.tally())).toHaveLength(2_000);
  expect(Object.values(stage.tally()).reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(2_002);
}, 900_000);
