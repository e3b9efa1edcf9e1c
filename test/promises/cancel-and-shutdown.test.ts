import { describe, expect, test } from '@jest/globals';
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { ProviderAnswer } from '../../src/testing/index.ts';
import { scene } from '../kit/scene.ts';
import { eventsOf, until } from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';

/** A scene in which `slow` is what the provider does on each attempt at `slow`; then it answers. */
async function shutdown({ slow = [], grace = '5s' }: { slow?: ProviderAnswer[]; grace?: '5s' | '1ms' } = {}) {
  const stage = await scene('shutdown-agents', {
    script: ({ messages, attempt }) => {
      const { text } = messages.at(-1)!;
      return { text: `about ${text}`, ...(text === 'slow' && slow[attempt - 1]) };
    },
    worker: { shutdownGraceTime: grace },
  });
  const asked = (text: string) => stage.provider.requests.filter(({ body }) => body['input'] === text);
  return { ...stage, asked };
}

async function expectCancelled(handle: WorkflowHandle): Promise<void> {
  const error = (await handle.result().catch((failure: unknown) => failure)) as WorkflowFailedError;
  expect(error.cause).toBeInstanceOf(CancelledFailure);
  expect((await handle.describe()).status.name).toBe('CANCELLED');
}

describe('a cancel', () => {
  test('closes the connection of a model call before the run ends, and nothing is tried again', async () => {
    await using stage = await shutdown({ slow: [{ delayMs: 60_000 }] });
    await stage.spawn();
    const handle = await stage.start('asker', 'slow');
    await stage.provider.waitFor(({ body }) => body['input'] === 'slow');
    await handle.cancel();
    await expectCancelled(handle);
    const { closeTime } = await handle.describe();
    expect(stage.asked('slow')).toHaveLength(1);
    expect(stage.asked('slow')[0]!.closedEarlyAt).toBeLessThanOrEqual(closeTime!.getTime());
    expect(stage.provider.requests).toHaveLength(1);
    expect(stage.tally()).toEqual({ 'told CancelledFailure': 1 });
    expect(eventsOf([await handle.fetchHistory()], 'activityTaskScheduled')).toHaveLength(1);
  });

  test('ends a run that waits to ask again, and it does not', async () => {
    const slow = [1, 60].map((seconds) => ({ status: 429, headers: { 'retry-after': `${seconds}` } }));
    await using stage = await shutdown({ slow });
    await stage.spawn();
    const handle = await stage.start('asker', 'slow');
    await until(() => stage.asked('slow')[1]?.answeredAt, 'refused twice');
    await handle.cancel();
    await expectCancelled(handle);
    expect(stage.asked('slow')).toHaveLength(2);
  });

  test('reaches a run whatever it waits for, and lets it clean up', async () => {
    await using stage = await shutdown();
    await stage.spawn();
    await stage.spawnTools();
    const whats = ['an approval', 'a sleep', 'a tool', 'a tool elsewhere', 'work of its own'];
    const handles = await Promise.all(
      whats.map(async (what) => await stage.start('waiter', what, `${stage.taskQueue} ${what}`)),
    );
    await untilWaiting(handles[0]!);
    await until(() => stage.tally()['tool begins'] === 2, 'both tools run');
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
      expect(stage.tally()).toMatchObject({
        [`${what}: ${error}, signal fired`]: 1,
        [`more of ${what}: CancelledFailure`]: 1,
        [`about clean up ${what}`]: 1,
      });
      expect(stage.asked(`clean up ${what}`)).toHaveLength(1);
    }
    // Nothing but the clean-up was asked.
    expect(stage.provider.requests).toHaveLength(whats.length);
    await until(() => stage.tally()['tool stopped'] === 2, 'the signals of both tools');
  });

  test('ends a run whose own work heeds nothing', async () => {
    await using stage = await shutdown();
    await stage.spawn();
    const handle = await stage.start('waiter', 'work of its own that heeds nothing');
    await until(() => stage.tally()['waits for work of its own that heeds nothing'], 'the agent works');
    await handle.cancel();
    await expectCancelled(handle);
    expect(stage.provider.requests).toHaveLength(0);
  });
});

describe('a worker stopped during a model call', () => {
  test('ends the call within its grace, so that it is paid once, and another worker goes on', async () => {
    await using stage = await shutdown({ slow: [{ delayMs: 2_000 }] });
    const first = await stage.spawn();
    const handle = await stage.start('asker', 'slow');
    await stage.provider.waitFor(({ body }) => body['input'] === 'slow');
    const second = await stage.spawn();
    await first.kill('SIGTERM');
    expect(await handle.result()).toBe('about after about slow');
    expect(stage.asked('slow')).toHaveLength(1);
    expect(stage.asked('after about slow')).toHaveLength(1);
    // The stopped worker may have taken one more task while it drained; whoever had it, it ended here.
    const last = stage.effects().findLast(({ what }) => what === 'got about after about slow');
    expect([first.pid, second.pid]).toContain(last?.pid);
  });

  test('leaves the call to another worker where the grace is too short, which never counts as a kill', async () => {
    const restarts = 10;
    const slow = Array.from({ length: restarts }, () => ({ delayMs: 60_000 }));
    await using stage = await shutdown({ slow, grace: '1ms' });
    let present = await stage.spawn();
    const handle = await stage.start('asker', 'slow');
    for (let restart = 1; restart <= restarts; restart++) {
      await until(() => stage.asked('slow').length === restart, `asked ${restart} times`);
      const next = await stage.spawn();
      await present.kill('SIGTERM');
      present = next;
    }
    expect(await handle.result()).toBe('about after about slow');
    expect(stage.asked('slow')).toHaveLength(restarts + 1);
    for (const { closedEarlyAt } of stage.asked('slow').slice(0, restarts))
      expect(closedEarlyAt).toBeDefined();
    // The agent never heard of it.
    expect(stage.tally()).toEqual({ 'got about slow': 1, 'got about after about slow': 1 });
    const timeouts = eventsOf([await handle.fetchHistory()], 'activityTaskTimedOut').map(
      (event) => event.activityTaskTimedOutEventAttributes!.failure?.message,
    );
    expect(timeouts).not.toContain('activity Heartbeat timeout');
  });
});

test('a model that is silent for three heartbeat timeouts before its first token costs no timeout', async () => {
  await using stage = await shutdown({ slow: [{ firstTokenDelayMs: 6_000 }] });
  await stage.spawn();
  const handle = await stage.start('streamer', 'slow');
  expect(await handle.result()).toBe('about slow');
  expect(stage.asked('slow')).toHaveLength(1);
  const history = await handle.fetchHistory();
  expect(eventsOf([history], 'activityTaskTimedOut')).toHaveLength(0);
  const [started] = eventsOf([history], 'activityTaskStarted');
  expect(started!.activityTaskStartedEventAttributes!.attempt).toBe(1);
});
