import { expect, test } from '@jest/globals';
import { startScriptedProvider } from '../../src/testing/index.ts';
import { client, eventsOf, unique } from '../kit/temporal.ts';
import { spawnWorker } from '../kit/workers.ts';

test('a model that is silent for 90 s before its first token costs no timeout at the heartbeat timeout of 30 s', async () => {
  const provider = await startScriptedProvider(() => ({ text: 'at last', firstTokenDelayMs: 90_000 }));
  const taskQueue = unique('silent');
  const worker = await spawnWorker({
    taskQueue,
    module: new URL('../fixtures/shutdown-agents.ts', import.meta.url).href,
    plugin: { heartbeatTimeout: '30s' },
    env: { PROVIDER_URL: provider.url },
  });
  const { workflow } = await client();
  const handle = await workflow.start('streamer', { taskQueue, workflowId: taskQueue, args: ['slow'] });
  expect(await handle.result()).toBe('at last');
  expect(provider.count()).toBe(1);
  expect(eventsOf([await handle.fetchHistory()], 'activityTaskTimedOut')).toHaveLength(0);
  await worker.kill();
  await provider.stop();
}, 150_000);
