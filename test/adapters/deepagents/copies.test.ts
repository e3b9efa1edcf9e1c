/** Both builds of Deep Agents are instrumented, with backends that were made before; files change once over a kill. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { approve, records } from '../../../src/index.ts';
import { startScriptedProvider, type ScriptedProvider } from '../../../src/testing/index.ts';
import { newEffects, tally } from '../../kit/effects.ts';
import { client, unique } from '../../kit/temporal.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../../kit/workers.ts';

const module = new URL('../../fixtures/deepagents-copies.ts', import.meta.url).href;
const calls = [
  { name: 'write_file', arguments: { file_path: '/disk/a.txt', content: 'text' } },
  { name: 'delete', arguments: { file_path: '/disk/a.txt' } },
  { name: 'transfer', arguments: { amount: 500 } },
];
let provider: ScriptedProvider;

beforeAll(async () => {
  provider = await startScriptedProvider(({ messages }) => {
    const results = messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    const next = calls[results.length];
    return next ? { toolCalls: [next] } : { text: results.join(' | ') };
  });
});
afterAll(async () => await provider.stop());

test.each(['imports', 'requires'])('what %s Deep Agents is durable, over kill -9', async (name) => {
  const taskQueue = unique(name);
  const log = newEffects();
  const folder = mkdtempSync(`${dirname(log)}/disk-`);
  const spawn = async () =>
    await spawnWorker({
      taskQueue,
      module,
      plugin: QUICK_PLUGIN,
      worker: QUICK_WORKER,
      env: { EFFECTS: log, FOLDER: folder, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: provider.url },
    });
  const first = await spawn();
  const { workflow } = await client();
  const handle = await workflow.start(name, { taskQueue, workflowId: taskQueue, ...QUICK_START });
  await untilWaiting(handle, ['transfer-1']);
  await first.kill();
  const second = await spawn();
  await handle.signal(approve, { id: 'transfer-1' });
  expect(await handle.result()).toBe("Successfully wrote to '/disk/a.txt' | Deleted /disk/a.txt | moved 500");
  expect(tally(log)).toEqual({ [`${name} transfers 500`]: 1 });
  expect(readdirSync(folder)).toEqual([]);
  const names = (await handle.query(records)).map((record) => record.name);
  expect(names.filter((each) => each.startsWith('FilesystemBackend'))).toEqual([
    'FilesystemBackend.write',
    'FilesystemBackend.delete',
  ]);
  await second.kill();
});
