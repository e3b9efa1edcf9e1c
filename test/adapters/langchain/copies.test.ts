/** Both builds of LangChain are instrumented, and what waits for people outlives its worker. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answer, approve, records } from '../../../src/index.ts';
import { startScriptedProvider, type ScriptedProvider } from '../../../src/testing/index.ts';
import { newEffects, tally } from '../../kit/effects.ts';
import { client, unique } from '../../kit/temporal.ts';
import { untilAsked, untilWaiting } from '../../kit/waiting-runs.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../../kit/workers.ts';

const module = new URL('../../fixtures/langchain-copies.ts', import.meta.url).href;
let provider: ScriptedProvider;

beforeAll(async () => {
  provider = await startScriptedProvider(({ messages }) => {
    const results = messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    if (results.length > 0) return { text: results.join(' | ') };
    return {
      toolCalls: [
        { name: 'transfer', arguments: { amount: 500 } },
        { name: 'ask', arguments: { what: 'Which?' } },
      ],
    };
  });
});
afterAll(async () => await provider.stop());

test.each([
  ['imports', 'imported'],
  ['requires', 'required'],
])('what %s LangChain is durable, over kill -9 while it waits', async (name, copy) => {
  const taskQueue = unique(name);
  const log = newEffects();
  const spawn = async () =>
    await spawnWorker({
      taskQueue,
      module,
      plugin: QUICK_PLUGIN,
      worker: QUICK_WORKER,
      env: { EFFECTS: log, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: provider.url },
    });
  const first = await spawn();
  const { workflow } = await client();
  const handle = await workflow.start(name, { taskQueue, workflowId: taskQueue, ...QUICK_START });
  expect(await untilWaiting(handle, ['transfer-1'])).toMatchObject([{ input: { amount: 500 } }]);
  await first.kill();

  const second = await spawn();
  await handle.signal(approve, { id: 'transfer-1' });
  expect(await untilAsked(handle, ['interrupt-1'])).toMatchObject([{ prompt: 'Which?' }]);
  await second.kill();

  const third = await spawn();
  await handle.signal(answer, { id: 'interrupt-1', value: 'this' });
  // LangChain's middleware puts what needs no approval first.
  expect(await handle.result()).toEqual({ text: 'said this | moved 500', class: copy });
  expect(tally(log)).toEqual({ [`${name} transfers 500`]: 1 });
  expect((await handle.query(records)).filter(({ kind }) => kind === 'turn')).toHaveLength(2);
  await third.kill();
});
