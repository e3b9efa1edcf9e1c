import { expect, test } from '@jest/globals';
import { startScriptedProvider } from '../../src/testing/index.ts';
import { effects, newEffects, tally } from '../kit/effects.ts';
import { assertReplays, chainOf, client, repeatedSteps, unique, until } from '../kit/temporal.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../kit/workers.ts';

/** The time for which it stands still: longer than the workflow task timeout, so that its tasks are given out again. */
const FROZEN_MS = QUICK_START.workflowTaskTimeout === '2s' ? 2_500 : NaN;

test('a worker frozen for longer than its task timeout goes on, nothing is repeated, and every history replays', async () => {
  const taskQueue = unique('frozen');
  const log = newEffects();
  const provider = await startScriptedProvider(({ messages }) => ({
    text: messages.at(-1)!.text,
    delayMs: 30,
  }));
  const env = { EFFECTS: log, PROVIDER_URL: provider.url, TOOLS_QUEUE: `${taskQueue}-tools` };
  const module = new URL('../fixtures/frozen-agents.ts', import.meta.url).href;
  const base = { module, plugin: QUICK_PLUGIN, worker: QUICK_WORKER, env };
  const worker = await spawnWorker({ ...base, taskQueue });
  const tools = await spawnWorker({ ...base, taskQueue: env.TOOLS_QUEUE, toolsOnly: true });
  const { workflow } = await client();
  const handles = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      const id = `${taskQueue}-${i}`;
      return await workflow.start('busy', { taskQueue, workflowId: id, args: [`run${i}`], ...QUICK_START });
    }),
  );
  for (const fetched of [12, 80, 160]) {
    await until(() => effects(log).length >= fetched && provider.requests.length > 0, 'work under way');
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
  expect(Object.values(tally(log)).filter((times) => times > 1)).toEqual([]);
  await assertReplays(chains.flat());
  await Promise.all([worker.kill(), tools.kill()]);
  await provider.stop();
});
