import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { approve, reject } from '../../src/index.ts';
import { fingerprint } from '../../src/loop/fingerprint.ts';
import { effects, newEffects, tally } from '../kit/effects.ts';
import { pythonWithTemporal, spawnPython } from '../kit/python.ts';
import { spawnRespawning } from '../kit/respawning.ts';
import { client, eventsOf, unique, until } from '../kit/temporal.ts';
import { sightings, untilWaiting } from '../kit/waiting-runs.ts';
import { nativeConnection, QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../kit/workers.ts';

const module = new URL('../fixtures/elsewhere-agents.ts', import.meta.url).href;
const python = await pythonWithTemporal();
const inPython = python === undefined ? test.skip : test;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A run, and beside its worker whatever serves the tools on a queue of their own. */
async function scene() {
  const taskQueue = unique('elsewhere');
  const log = newEffects();
  const env = { EFFECTS: log, TOOLS_QUEUE: `${taskQueue}-tools` };
  const base = { module, plugin: QUICK_PLUGIN, worker: QUICK_WORKER, env };
  const tools = { ...base, taskQueue: env.TOOLS_QUEUE, toolsOnly: true };
  const host = async () => {
    const worker = await spawnWorker({ ...base, taskQueue });
    stops.push(async () => await worker.kill());
    return worker;
  };
  const start = async (agent: string, input: unknown): Promise<WorkflowHandle> => {
    const { workflow } = await client();
    return await workflow.start(agent, { taskQueue, workflowId: taskQueue, args: [input], ...QUICK_START });
  };
  const done = (what: string) => effects(log).filter((effect) => effect.what.startsWith(what));
  return { taskQueue, log, env, tools, host, start, done };
}

/** The idempotency key of a call, by its rule. */
async function keyOf(handle: WorkflowHandle, name: string, args: unknown, occurrence = ''): Promise<string> {
  const { raw } = await handle.describe();
  const request = { arguments: args, version: undefined };
  return `${raw.workflowExecutionInfo!.firstRunId}:${fingerprint({ kind: 'tool', name, request, scope: '' })}${occurrence}`;
}

const scheduled = async (handle: WorkflowHandle) =>
  eventsOf([await handle.fetchHistory()], 'activityTaskScheduled').map((event) => {
    const { activityType, activityId, taskQueue } = event.activityTaskScheduledEventAttributes!;
    return { type: activityType!.name, id: activityId, taskQueue: taskQueue!.name };
  });

test('a tool on its own queue runs in a process that serves tools only, under the key that the activity has', async () => {
  const { host, start, tools, log, env } = await scene();
  const worker = await host();
  const serving = await spawnWorker(tools);
  stops.push(async () => await serving.kill());
  const handle = await start('weigher', ['one', 'three', 'one']);
  expect(await handle.result()).toEqual([3, 5, 3]);
  const keys = [
    await keyOf(handle, 'weigh', { word: 'one' }),
    await keyOf(handle, 'weigh', { word: 'three' }),
    await keyOf(handle, 'weigh', { word: 'one' }, '.2'),
  ];
  expect(tally(log)).toEqual({
    [`weigh one ${keys[0]}`]: 1,
    [`weigh three ${keys[1]}`]: 1,
    [`weigh one ${keys[2]}`]: 1,
  });
  expect(effects(log).map(({ pid }) => pid)).toEqual([serving.pid, serving.pid, serving.pid]);
  expect(serving.pid).not.toBe(worker.pid);
  expect(await scheduled(handle)).toEqual(
    keys.map((id) => ({ type: 'weigh', id, taskQueue: env.TOOLS_QUEUE })),
  );
});

test("a user's own workflow schedules a tool as an activity by its name", async () => {
  const { taskQueue, tools, log, env } = await scene();
  const serving = await spawnWorker(tools);
  const worker = await Worker.create({
    connection: await nativeConnection(),
    taskQueue,
    workflowsPath: fileURLToPath(new URL('../fixtures/own-workflows.ts', import.meta.url)),
  });
  const { workflow } = await client();
  const args = [env.TOOLS_QUEUE, ['heavy', 'heavy']];
  const handle = await workflow.start('shipment', { taskQueue, workflowId: taskQueue, args });
  await worker.runUntil(async () => {
    expect(await handle.result()).toEqual([5, 5]);
  });
  await serving.kill();
  // The key is made from the run and the activity, so two calls have two.
  expect(tally(log)).toEqual({
    [`weigh heavy ${handle.firstExecutionRunId}:1`]: 1,
    [`weigh heavy ${handle.firstExecutionRunId}:2`]: 1,
  });
});

describe('a tool without a body', () => {
  inPython(
    'is served by a plain Python worker, which sees the idempotency key as the activity id',
    async () => {
      const { host, start, log, env } = await scene();
      await host();
      const worker = await spawnPython(python!, new URL('../fixtures/python_tools.py', import.meta.url), env);
      stops.push(async () => await worker.kill());
      const handle = await start('translator', ['hi', 'you', 'hi']);
      const keys = [
        await keyOf(handle, 'translate', { text: 'hi' }),
        await keyOf(handle, 'translate', { text: 'you' }),
        await keyOf(handle, 'translate', { text: 'hi' }, '.2'),
      ];
      expect(await handle.result()).toEqual({
        translated: [
          { text: 'HI', key: keys[0] },
          { text: 'YOU', key: keys[1] },
          { text: 'HI', key: keys[2] },
        ],
        refused: { error: { class: 'Error', name: 'ValueError', message: 'no such word' } },
        bytes: {
          error: {
            class: 'NotRecordableError',
            name: 'NotRecordableError',
            message: expect.stringContaining('The result of tool raw_bytes cannot be recorded: it is bytes'),
          },
        },
      });
      expect(tally(log)).toEqual({
        [`translate hi ${keys[0]}`]: 1,
        [`translate you ${keys[1]}`]: 1,
        [`translate hi ${keys[2]}`]: 1,
        refuse: 1,
        raw_bytes: 1,
      });
      expect(new Set(effects(log).map(({ pid }) => pid))).toEqual(new Set([worker.pid]));
    },
  );

  inPython(
    'that its Python worker cut off to shut down runs again, though it may be tried once only',
    async () => {
      const { host, start, log, env, done } = await scene();
      await host();
      const file = new URL('../fixtures/python_tools.py', import.meta.url);
      const first = await spawnPython(python!, file, env);
      const handle = await start('patient', 20);
      await until(() => done('slow begins').length > 0, 'the tool runs');
      await first.kill('SIGTERM');
      expect(tally(log)['slow cut off']).toBe(1);
      const second = await spawnPython(python!, file, env);
      stops.push(async () => await second.kill());
      expect(await handle.result()).toBe('at last');
      const begun = Object.entries(tally(log)).find(([what]) => what.startsWith('slow begins'));
      expect(begun).toEqual([`slow begins ${await keyOf(handle, 'slow', { tenths: 20 })}`, 2]);
    },
  );
});

test('a tool that takes all memory of its process is an error of the tool after its attempts, and the run goes on', async () => {
  const { host, start, tools, log } = await scene();
  await host();
  const serving = await spawnRespawning({
    ...tools,
    env: { ...tools.env, NODE_OPTIONS: '--max-old-space-size=100' },
  });
  stops.push(async () => await serving.stop());
  const handle = await start('hoarder', null);
  expect(await handle.result()).toEqual({
    hoarded: { error: { class: 'Error', name: 'TimeoutError', message: 'tool hoard timed out (HEARTBEAT)' } },
    weight: 5,
  });
  expect(tally(log)['hoard']).toBe(2);
  const hoarders = effects(log).filter(({ what }) => what === 'hoard');
  expect(hoarders.map(({ pid }) => pid)).toEqual(serving.pids.slice(0, 2));
});

describe('a refund whose worker died after it paid', () => {
  /** Approves the refund, and waits until its fate is asked. */
  const untilUncertain = async (deaths: number) => {
    const it = await scene();
    const worker = await it.host();
    const serving = await spawnRespawning(it.tools);
    stops.push(async () => await serving.stop());
    const handle = await it.start('refunds', deaths);
    const [asked] = await untilWaiting(handle, ['refund-1']);
    expect(asked!.prompt).toBe('Refund a?');
    expect(it.done('paid')).toHaveLength(0);
    await handle.signal(approve, { id: 'refund-1' });
    const [uncertain] = await untilWaiting(handle, ['refund-2']);
    const key = await keyOf(handle, 'refund', { account: 'a', deaths });
    return { ...it, worker, handle, uncertain: uncertain!, paid: `paid a ${key}` };
  };

  test('waits and asks, having paid once; rejected, it tells the agent, live and after a restart', async () => {
    const { handle, worker, host, uncertain, log, paid } = await untilUncertain(1);
    expect(uncertain).toMatchObject({
      name: 'refund',
      input: { account: 'a', deaths: 1 },
      prompt: expect.stringMatching(/vanished: it may or may not have had its effect.*same idempotency key/),
    });
    expect(tally(log)).toEqual({ [paid]: 1 });
    await handle.signal(reject, { id: 'refund-2', reason: 'It was paid, the bank says.' });
    await untilWaiting(handle);
    await worker.kill();
    await host();
    await handle.signal(approve, { id: 'gate-1' });
    const error = {
      error: {
        class: 'UncertainStepError',
        name: 'UncertainStepError',
        message: 'It was paid, the bank says.',
      },
    };
    expect(await handle.result()).toEqual(error);
    for (const { saw } of sightings(log, 'refund')) expect(saw).toEqual(error);
    expect(sightings(log, 'refund').length).toBeGreaterThan(1);
    expect(tally(log)[paid]).toBe(1);
  });

  test('approved, pays again under the same key, and asks again each time it dies', async () => {
    const { handle, log, paid } = await untilUncertain(2);
    expect(tally(log)[paid]).toBe(1);
    await handle.signal(approve, { id: 'refund-2' });
    await untilWaiting(handle, ['refund-3']);
    expect(tally(log)[paid]).toBe(2);
    await handle.signal(approve, { id: 'refund-3' });
    await untilWaiting(handle);
    await handle.signal(approve, { id: 'gate-1' });
    expect(await handle.result()).toBe('paid a');
    expect(tally(log)[paid]).toBe(3);
    const ids = (await scheduled(handle)).filter(({ type }) => type === 'refund').map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 3 }, () => paid.split(' ')[2]));
  });
});

describe('a tool whose worker is stopped gracefully', () => {
  test('runs again where it was cut off, as often as that happens, though it may be tried once only', async () => {
    const { host, start, tools, log, done } = await scene();
    await host();
    const brisk = { ...tools, worker: { ...QUICK_WORKER, shutdownGraceTime: '1ms' } as const };
    const handle = await start('digger', 1_500);
    for (let stop = 1; stop <= 4; stop++) {
      const serving = await spawnWorker(brisk);
      await until(() => done('dig begins').length === stop, `begun ${stop} times`);
      await serving.kill('SIGTERM');
    }
    const last = await spawnWorker(brisk);
    stops.push(async () => await last.kill());
    expect(await handle.result()).toBe('dug');
    expect(tally(log)).toEqual({
      [`dig begins ${await keyOf(handle, 'dig', { ms: 1_500 })}`]: 5,
      'dig cut off': 4,
      'dig ends': 1,
    });
  });

  test('runs once where it ends within the grace', async () => {
    const { host, start, tools, log, done } = await scene();
    await host();
    const serving = await spawnWorker(tools);
    const handle = await start('digger', 1_500);
    await until(() => done('dig begins').length > 0, 'begun');
    await serving.kill('SIGTERM');
    expect(await handle.result()).toBe('dug');
    expect(tally(log)).toEqual({
      [`dig begins ${await keyOf(handle, 'dig', { ms: 1_500 })}`]: 1,
      'dig ends': 1,
    });
  });
});
