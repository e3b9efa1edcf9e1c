import { describe, expect, test } from '@jest/globals';
import type { ProviderScript } from '../../src/testing/index.ts';
import { parallel } from '../fixtures/parallel-agents.ts';
import { scene } from '../kit/scene.ts';
import { client, eventsOf, until } from '../kit/temporal.ts';
import { startWorker } from '../kit/workers.ts';

const script: ProviderScript = ({ messages }) => ({ text: `about ${messages.at(-1)!.text}` });

/** Eight looks, two of them identical; five are done within half a second, three take long. */
const eight = [
  { what: 'a', ms: 10 },
  { what: 'b', ms: 150 },
  { what: 'c', ms: 60 },
  { what: 'same', ms: 100 },
  { what: 'same', ms: 100 },
  { what: 'slow1', ms: 3_000 },
  { what: 'slow2', ms: 3_200 },
  { what: 'slow3', ms: 3_400 },
];

describe('eight parallel tools, two of them identical, killed when five are done', () => {
  const start = async (elsewhere: boolean) => {
    const stage = await scene('parallel-agents', { script });
    const host = await stage.spawn();
    if (elsewhere) await stage.spawnTools();
    const handle = await stage.start('parallel', { looks: eight, elsewhere });
    const ended = () => stage.effects().filter(({ what }) => what.startsWith('end'));
    await until(() => ended().length >= 5, 'five tools done');
    // All five are recorded once the loop has been told of them; the history says so.
    await until(
      async () => eventsOf([await handle.fetchHistory()], 'activityTaskCompleted').length >= 6,
      'five answers recorded',
    );
    await host.kill();
    await stage.spawn();
    return { ...stage, result: (await handle.result()) as unknown };
  };

  test('runs nothing twice where the tools are in another process', async () => {
    await using stage = await start(true);
    expect(stage.result).toBe(
      'about found found a, found b, found c, found same, found same, found slow1, found slow2, found slow3',
    );
    const ends = Object.entries(stage.tally()).filter(([what]) => what.startsWith('end'));
    expect(Object.fromEntries(ends)).toEqual({
      'end a': 1,
      'end b': 1,
      'end c': 1,
      'end same': 2,
      'end slow1': 1,
      'end slow2': 1,
      'end slow3': 1,
    });
    expect(stage.provider.requests).toHaveLength(2);
  });

  test('starts only the unfinished again, with the same idempotency keys, where the tools died with the host', async () => {
    await using stage = await start(false);
    const starts = stage.tally();
    const count = (what: string) =>
      Object.entries(starts).filter(([line]) => line.startsWith(`start ${what} `));
    for (const what of ['a', 'b', 'c']) expect(count(what).map(([, times]) => times)).toEqual([1]);
    // Two identical calls are two calls: two keys, one start each.
    expect(count('same').map(([, times]) => times)).toEqual([1, 1]);
    for (const what of ['slow1', 'slow2', 'slow3'])
      expect(count(what).map(([, times]) => times)).toEqual([2]);
    expect(stage.provider.requests).toHaveLength(2);
  });
});

test('fifty parallel calls of one answer all overlap', async () => {
  await using stage = await scene('parallel-agents', { script });
  const { taskQueue } = stage;
  process.env['PROVIDER_URL'] = stage.provider.url;
  // Beside all that, this process may be slow to say that it lives.
  const plugin = { agents: [parallel], heartbeatTimeout: '30s' } as const;
  const worker = await startWorker({ taskQueue, plugin });
  const looks = Array.from({ length: 50 }, (_, i) => ({ what: `${i}`, ms: 0, together: 50 }));
  const { workflow } = await client();
  await workflow.execute(parallel, { taskQueue, workflowId: taskQueue, args: [{ looks }] });
  await worker.stop();
  const done = stage.effects().map(({ what }) => what.split(' ')[0]);
  expect(done).toEqual([...Array<string>(50).fill('start'), ...Array<string>(50).fill('end')]);
});

test('eight parallel turns on three workers are each paid once', async () => {
  await using stage = await scene('parallel-agents', { script });
  await Promise.all([1, 2, 3].map(async () => await stage.spawn()));
  const prompts = Array.from({ length: 8 }, (_, i) => `turn ${i}`);
  const handle = await stage.start('parallelTurns', prompts);
  expect(await handle.result()).toEqual(prompts.map((prompt) => `about ${prompt}`));
  expect(stage.provider.requests).toHaveLength(8);
});
