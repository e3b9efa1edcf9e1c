import { afterEach, describe, expect, test } from '@jest/globals';
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { type ProviderAnswer, startScriptedProvider } from '../../src/testing/index.ts';
import { effects, newEffects, tally } from '../kit/effects.ts';
import { client, eventsOf, unique, until } from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../kit/workers.ts';

const module = new URL('../fixtures/shutdown-agents.ts', import.meta.url).href;
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A provider, a queue and what happened there. `slow` is what the provider does on each attempt at `slow`, then it answers. */
async function scene({ slow = [], grace = '5s' }: { slow?: ProviderAnswer[]; grace?: '5s' | '1ms' } = {}) {
  const provider = await startScriptedProvider(({ messages, attempt }) => {
    const { text } = messages.at(-1)!;
    return { text: `about ${text}`, ...(text === 'slow' && slow[attempt - 1]) };
  });
  stops.push(async () => await provider.stop());
  const taskQueue = unique('shutdown');
  const log = newEffects();
  const env = { EFFECTS: log, PROVIDER_URL: provider.url, TOOLS_QUEUE: `${taskQueue}-tools` };
  const options = {
    module,
    plugin: QUICK_PLUGIN,
    worker: { ...QUICK_WORKER, shutdownGraceTime: grace },
    env,
  };
  const spawn = async (more: Partial<Parameters<typeof spawnWorker>[0]> = {}) => {
    const worker = await spawnWorker({ ...options, taskQueue, ...more });
    stops.push(async () => await worker.kill());
    return worker;
  };
  const start = async (agent: string, input: unknown, workflowId = taskQueue): Promise<WorkflowHandle> => {
    const { workflow } = await client();
    return await workflow.start(agent, { taskQueue, workflowId, args: [input], ...QUICK_START });
  };
  const asked = (text: string) => provider.requests.filter(({ body }) => body['input'] === text);
  const pids = (what: string) =>
    effects(log)
      .filter((effect) => effect.what === what)
      .map(({ pid }) => pid);
  return { provider, taskQueue, log, env, spawn, start, asked, pids };
}

async function expectCancelled(handle: WorkflowHandle): Promise<void> {
  const error = (await handle.result().catch((failure: unknown) => failure)) as WorkflowFailedError;
  expect(error.cause).toBeInstanceOf(CancelledFailure);
  expect((await handle.describe()).status.name).toBe('CANCELLED');
}

describe('a cancel', () => {
  test('closes the connection of a model call before the run ends, and nothing is tried again', async () => {
    const { spawn, start, provider, asked, log } = await scene({ slow: [{ delayMs: 60_000 }] });
    await spawn();
    const handle = await start('asker', 'slow');
    await provider.waitFor(({ body }) => body['input'] === 'slow');
    await handle.cancel();
    await expectCancelled(handle);
    const { closeTime } = await handle.describe();
    expect(asked('slow')).toHaveLength(1);
    expect(asked('slow')[0]!.closedEarlyAt).toBeLessThanOrEqual(closeTime!.getTime());
    expect(provider.requests).toHaveLength(1);
    expect(tally(log)).toEqual({ 'told CancelledFailure': 1 });
    expect(eventsOf([await handle.fetchHistory()], 'activityTaskScheduled')).toHaveLength(1);
  });

  test('ends a run that waits to ask again, and it does not', async () => {
    const slow = [1, 60].map((seconds) => ({ status: 429, headers: { 'retry-after': `${seconds}` } }));
    const { spawn, start, asked } = await scene({ slow });
    await spawn();
    const handle = await start('asker', 'slow');
    await until(() => asked('slow')[1]?.answeredAt, 'refused twice');
    await handle.cancel();
    await expectCancelled(handle);
    expect(asked('slow')).toHaveLength(2);
  });

  test('reaches a run whatever it waits for, and lets it clean up', async () => {
    const { spawn, start, asked, taskQueue, env, log, provider } = await scene();
    await spawn();
    await spawn({ taskQueue: env.TOOLS_QUEUE, toolsOnly: true });
    const whats = ['an approval', 'a sleep', 'a tool', 'a tool elsewhere', 'work of its own'];
    const handles = await Promise.all(
      whats.map(async (what) => await start('waiter', what, `${taskQueue} ${what}`)),
    );
    await untilWaiting(handles[0]!);
    await until(() => tally(log)['tool begins'] === 2, 'both tools run');
    await until(async () => {
      const [approval, sleep] = await Promise.all(
        handles.slice(0, 2).map(async (handle) => await handle.fetchHistory()),
      );
      return eventsOf([sleep!], 'timerStarted').length > 0 && approval;
    }, 'the sleep has begun');
    await Promise.all(handles.map(async (handle) => await handle.cancel()));
    for (const handle of handles) await expectCancelled(handle);
    for (const what of whats) {
      const error = what === 'work of its own' ? 'AbortError' : 'CancelledFailure';
      expect(tally(log)).toMatchObject({
        [`${what}: ${error}, signal fired`]: 1,
        [`more of ${what}: CancelledFailure`]: 1,
        [`about clean up ${what}`]: 1,
      });
      expect(asked(`clean up ${what}`)).toHaveLength(1);
    }
    // Nothing but the clean-up was asked.
    expect(provider.requests).toHaveLength(whats.length);
    await until(() => tally(log)['tool stopped'] === 2, 'the signals of both tools');
  });

  test('ends a run whose own work heeds nothing', async () => {
    const { spawn, start, log, provider } = await scene();
    await spawn();
    const handle = await start('waiter', 'work of its own that heeds nothing');
    await until(() => tally(log)['waits for work of its own that heeds nothing'], 'the agent works');
    await handle.cancel();
    await expectCancelled(handle);
    expect(provider.requests).toHaveLength(0);
  });
});

describe('a worker stopped during a model call', () => {
  test('ends the call within its grace, so that it is paid once, and another worker goes on', async () => {
    const { spawn, start, provider, asked, pids } = await scene({ slow: [{ delayMs: 2_000 }] });
    const first = await spawn();
    const handle = await start('asker', 'slow');
    await provider.waitFor(({ body }) => body['input'] === 'slow');
    const second = await spawn();
    await first.kill('SIGTERM');
    expect(await handle.result()).toBe('about after about slow');
    expect(asked('slow')).toHaveLength(1);
    expect(asked('after about slow')).toHaveLength(1);
    // The stopped worker may have taken one more task while it drained; whoever had it, it ended here.
    expect([first.pid, second.pid]).toContain(pids('got about after about slow').at(-1));
  });

  test('leaves the call to another worker where the grace is too short, which never counts as a kill', async () => {
    const restarts = 10;
    const slow = Array.from({ length: restarts }, () => ({ delayMs: 60_000 }));
    const { spawn, start, asked, log } = await scene({ slow, grace: '1ms' });
    let present = await spawn();
    const handle = await start('asker', 'slow');
    for (let restart = 1; restart <= restarts; restart++) {
      await until(() => asked('slow').length === restart, `asked ${restart} times`);
      const next = await spawn();
      await present.kill('SIGTERM');
      present = next;
    }
    expect(await handle.result()).toBe('about after about slow');
    expect(asked('slow')).toHaveLength(restarts + 1);
    for (const { closedEarlyAt } of asked('slow').slice(0, restarts)) expect(closedEarlyAt).toBeDefined();
    // The agent never heard of it.
    expect(tally(log)).toEqual({ 'got about slow': 1, 'got about after about slow': 1 });
    const timeouts = eventsOf([await handle.fetchHistory()], 'activityTaskTimedOut').map(
      (event) => event.activityTaskTimedOutEventAttributes!.failure?.message,
    );
    expect(timeouts).not.toContain('activity Heartbeat timeout');
  });
});

test('a model that is silent for three heartbeat timeouts before its first token costs no timeout', async () => {
  const { spawn, start, asked } = await scene({ slow: [{ firstTokenDelayMs: 6_000 }] });
  await spawn();
  const handle = await start('streamer', 'slow');
  expect(await handle.result()).toBe('about slow');
  expect(asked('slow')).toHaveLength(1);
  const history = await handle.fetchHistory();
  expect(eventsOf([history], 'activityTaskTimedOut')).toHaveLength(0);
  const [started] = eventsOf([history], 'activityTaskStarted');
  expect(started!.activityTaskStartedEventAttributes!.attempt).toBe(1);
});
