import { expect, test } from '@jest/globals';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps, until } from '../kit/temporal.ts';
import { QUICK_START } from '../kit/workers.ts';

/** The time for which it stands still: longer than the workflow task timeout, so that its tasks are given out again. */
const FROZEN_MS = QUICK_START.workflowTaskTimeout === '2s' ? 2_500 : NaN;

test('a worker frozen for longer than its task timeout goes on, nothing is repeated, and every history replays', async () => {
  await using stage = await scene('frozen-agents', {
    // A heartbeat that a busy machine delays would have a tool run again; an activity that is lost costs as long.
    plugin: { heartbeatTimeout: '8s' },
    script: ({ messages }) => ({ text: messages.at(-1)!.text, delayMs: 30 }),
  });
  const { provider } = stage;
  const worker = await stage.spawn();
  await stage.spawnTools();
  const handles = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => await stage.start('busy', `run${i}`)),
  );
  for (const fetched of [12, 80, 160]) {
    await until(() => stage.effects().length >= fetched && provider.requests.length > 0, 'work under way');
    worker.pause();
    const frozenAt = Date.now();
    // Answers from elsewhere arrive meanwhile.
    await until(() => Date.now() > frozenAt + FROZEN_MS, 'the freeze to last');
    worker.resume();
    await until(() => provider.requests.some(({ at }) => at > frozenAt + FROZEN_MS), 'it to go on');
  }
  expect(await Promise.all(handles.map(async (handle) => (await handle.result()) as unknown))).toEqual(
    handles.map(() => [25, 40]),
  );
  const chains = await Promise.all(handles.map(async (handle) => await chainOf(handle)));
  expect(chains.flatMap(repeatedSteps)).toEqual([]);
  expect(Object.values(stage.tally()).filter((times) => times > 1)).toEqual([]);
  await assertReplays(chains.flat());
}, 240_000);
