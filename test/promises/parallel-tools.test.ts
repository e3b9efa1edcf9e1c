import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startScriptedProvider, type ScriptedProvider } from '../../src/testing/index.ts';
import { effects, newEffects, tally } from '../kit/effects.ts';
import { client, unique, until } from '../kit/temporal.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker, startWorker } from '../kit/workers.ts';

const module = new URL('../fixtures/parallel-agents.ts', import.meta.url).href;
let provider: ScriptedProvider;

beforeAll(async () => {
  provider = await startScriptedProvider(({ messages }) => ({ text: `about ${messages.at(-1)!.text}` }));
  process.env['PROVIDER_URL'] = provider.url;
});
afterAll(async () => await provider.stop());

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
  const start = async (input: object, workers: { tools: boolean }) => {
    const taskQueue = unique('parallel');
    const log = newEffects();
    const env = { EFFECTS: log, PROVIDER_URL: provider.url, TOOLS_QUEUE: `${taskQueue}-tools` };
    const base = { module, plugin: QUICK_PLUGIN, worker: QUICK_WORKER, env };
    const host = await spawnWorker({ ...base, taskQueue });
    const tools =
      workers.tools && (await spawnWorker({ ...base, taskQueue: env.TOOLS_QUEUE, toolsOnly: true }));
    const { workflow } = await client();
    const handle = await workflow.start('parallel', {
      taskQueue,
      workflowId: taskQueue,
      args: [input],
      ...QUICK_START,
    });
    await until(
      () => effects(log).filter(({ what }) => what.startsWith('end')).length >= 5,
      'five tools done',
    );
    // All five are recorded once the loop has been told of them; the history says so.
    await until(async () => {
      const { events } = await handle.fetchHistory();
      return events!.filter((event) => event.activityTaskCompletedEventAttributes).length >= 6;
    }, 'five answers recorded');
    await host.kill();
    const next = await spawnWorker({ ...base, taskQueue });
    const result = await handle.result();
    await next.kill('SIGKILL');
    if (tools) await tools.kill();
    return { result, log };
  };

  test('runs nothing twice where the tools are in another process', async () => {
    const before = provider.requests.length;
    const { result, log } = await start({ looks: eight, elsewhere: true }, { tools: true });
    expect(result).toBe(
      'about found found a, found b, found c, found same, found same, found slow1, found slow2, found slow3',
    );
    const ends = Object.entries(tally(log)).filter(([what]) => what.startsWith('end'));
    expect(Object.fromEntries(ends)).toEqual({
      'end a': 1,
      'end b': 1,
      'end c': 1,
      'end same': 2,
      'end slow1': 1,
      'end slow2': 1,
      'end slow3': 1,
    });
    expect(provider.requests.length - before).toBe(2);
  });

  test('starts only the unfinished again, with the same idempotency keys, where the tools died with the host', async () => {
    const before = provider.requests.length;
    const { log } = await start({ looks: eight }, { tools: false });
    const starts = tally(log);
    const count = (what: string) =>
      Object.entries(starts).filter(([line]) => line.startsWith(`start ${what} `));
    for (const what of ['a', 'b', 'c']) expect(count(what).map(([, times]) => times)).toEqual([1]);
    // Two identical calls are two calls: two keys, one start each.
    expect(count('same').map(([, times]) => times)).toEqual([1, 1]);
    for (const what of ['slow1', 'slow2', 'slow3'])
      expect(count(what).map(([, times]) => times)).toEqual([2]);
    expect(provider.requests.length - before).toBe(2);
  });
});

test('fifty parallel calls of one answer all overlap', async () => {
  const taskQueue = unique('fifty');
  const log = newEffects();
  const { parallel } = await import('../fixtures/parallel-agents.ts');
  const worker = await startWorker({ taskQueue, plugin: { agents: [parallel] } });
  const looks = Array.from({ length: 50 }, (_, i) => ({ what: `${i}`, ms: 2_000 }));
  const { workflow } = await client();
  await workflow.execute(parallel, { taskQueue, workflowId: taskQueue, args: [{ looks }] });
  await worker.stop();
  const lines = effects(log);
  const lastStart = Math.max(...lines.filter(({ what }) => what.startsWith('start')).map(({ at }) => at));
  const firstEnd = Math.min(...lines.filter(({ what }) => what.startsWith('end')).map(({ at }) => at));
  expect(lines.filter(({ what }) => what.startsWith('end'))).toHaveLength(50);
  expect(lastStart).toBeLessThan(firstEnd);
});

test('eight parallel turns on three workers are each paid once', async () => {
  const taskQueue = unique('turns');
  const workers = await Promise.all(
    [1, 2, 3].map(() => spawnWorker({ module, taskQueue, plugin: QUICK_PLUGIN, worker: QUICK_WORKER })),
  );
  const before = provider.requests.length;
  const prompts = Array.from({ length: 8 }, (_, i) => `turn ${i}`);
  const { workflow } = await client();
  const result = await workflow.execute('parallelTurns', {
    taskQueue,
    workflowId: taskQueue,
    args: [prompts],
  });
  expect(result).toEqual(prompts.map((prompt) => `about ${prompt}`));
  expect(provider.requests.length - before).toBe(8);
  await Promise.all(workers.map((worker) => worker.kill()));
});
