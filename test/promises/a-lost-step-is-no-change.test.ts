import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startScriptedProvider, type ScriptedProvider } from '../../src/testing/index.ts';
import { newEffects, tally } from '../kit/effects.ts';
import { client, unique, until } from '../kit/temporal.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../kit/workers.ts';

const module = new URL('../fixtures/branching-agents.ts', import.meta.url).href;
let provider: ScriptedProvider;
let hang = true;

beforeAll(async () => {
  provider = await startScriptedProvider(({ messages }) => {
    const { text } = messages.at(-1)!;
    return { text: `about ${text}`, ...(text === 'slow' && hang && { hang: true }) };
  });
});
afterAll(async () => await provider.stop());

test('a branch whose turn was lost with its worker leaves the other branch as it was: nothing is read or paid again', async () => {
  const taskQueue = unique('branches');
  const log = newEffects();
  const options = {
    module,
    taskQueue,
    plugin: QUICK_PLUGIN,
    worker: QUICK_WORKER,
    env: { EFFECTS: log, PROVIDER_URL: provider.url },
  };
  const host = await spawnWorker(options);
  const { workflow } = await client();
  const handle = await workflow.start('branches', { taskQueue, workflowId: taskQueue, ...QUICK_START });
  await until(async () => {
    const records = await handle.query<{ kind: string }[]>('records');
    return records.length === 3;
  }, 'the quick branch is done');
  hang = false;
  await host.kill();
  const next = await spawnWorker(options);
  await handle.result();
  await next.kill();
  expect(tally(log)).toEqual({ 'read a page': 1 });
  expect(provider.requests.map(({ body }) => body['input'])).toEqual([
    'slow',
    'quick',
    expect.stringMatching(/^about quick: a page at/),
    'slow',
  ]);
});
