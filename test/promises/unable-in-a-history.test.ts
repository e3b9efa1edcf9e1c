/** A worker that is not able to run an agent, and a history that says so. */
import { expect, test } from '@jest/globals';
import { waiting } from '../../src/index.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, eventsOf, until } from '../kit/temporal.ts';

test('a run that was asked about while no worker had its agent goes on once one has', async () => {
  await using stage = await scene('fault-agents');
  const without = await stage.spawn({
    module: new URL('../fixtures/budget-agents.ts', import.meta.url).href,
  });
  const handle = await stage.start('steady', 'late');
  // To answer a query, Core completes the task that is to fail, and records why.
  await until(async () => {
    await handle.query(waiting).catch(() => {});
    return eventsOf(await chainOf(handle), 'markerRecorded').length > 0;
  }, 'a task that is completed');
  await without.kill();
  await stage.spawn();
  expect(await handle.result()).toEqual(['a late', 'charged late', 'b late']);
  await assertReplays(await chainOf(handle));
});
