/** More steps at once than the server takes for one run. */
import { expect, test } from '@jest/globals';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf } from '../kit/temporal.ts';

test('2,100 steps in one breath are each done once', async () => {
  await using stage = await scene('fault-agents');
  await stage.spawn();
  const many = await stage.start('crowd', { id: 'many', count: 2_100, bytes: 10 });
  expect(await many.result()).toBe(2_100);
  expect(Object.values(stage.tally()).every((times) => times === 1)).toBe(true);
  await assertReplays(await chainOf(many));
}, 300_000);
