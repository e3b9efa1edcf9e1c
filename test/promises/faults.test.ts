/** The everyday events that broke the first protocol, each by what must hold. */
import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { approve, records, waiting } from '../../src/index.ts';
import { BUILD_SIGNAL } from '../../src/protocol/names.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, eventsOf, until } from '../kit/temporal.ts';

const approveWhenAsked = async (handle: WorkflowHandle, id: string) => {
  await until(async () => (await handle.query(waiting)).approvals.some((pending) => pending.id === id), id);
  await handle.signal(approve, { id });
};

/** Starts a worker, and another whenever one ends, at most twelve, until the run is over. */
async function respawnUntil(
  stage: Awaited<ReturnType<typeof scene>>,
  result: Promise<unknown>,
): Promise<void> {
  let over = false;
  const end = result.then(
    () => void (over = true),
    () => void (over = true),
  );
  for (let processes = 0; !over && processes < 12; processes++) {
    const worker = await stage.spawn();
    await Promise.race([worker.ended, end]);
  }
}

test('a task lost after the loop went on: a worker stopped for a while and let go takes up where it was', async () => {
  await using stage = await scene('fault-agents');
  const worker = await stage.spawn();
  const handle = await stage.start('blocked', 'lost');
  await until(() => stage.asked('start lost') === 1, 'the first turn');
  worker.pause();
  const stopped = Date.now();
  await until(() => Date.now() > stopped + 3_000, 'a pause longer than the task timeout');
  worker.resume();
  expect(await handle.result()).toEqual(['a lost', 'b lost']);
  expect([stage.asked('start lost'), stage.asked('a lost'), stage.asked('b lost')]).toEqual([1, 1, 1]);
  await assertReplays(await chainOf(handle));
});

test('a completion refused because a signal came: the tail of the agent does not run again', async () => {
  await using stage = await scene('fault-agents');
  const gate = `${stage.log}.gate`;
  await stage.spawn({ holdEnd: gate });
  const handle = await stage.start('slowEnd', 'tail');
  await until(() => stage.tally()['end held'], 'the end');
  await handle.signal(approve, { id: 'nobody-asked' });
  writeFileSync(gate, '');
  expect(await handle.result()).toBe('ended');
  expect(stage.tally()['tail tail']).toBe(1);
  expect(
    eventsOf(await chainOf(handle), 'workflowTaskFailed').map(
      (event) => event.workflowTaskFailedEventAttributes!.cause,
    ),
  ).toEqual([
    expect.anything(), // UnhandledCommand: it did happen
  ]);
});

test('an answer that comes before the rebuilt loop asks is kept for it', async () => {
  await using stage = await scene('fault-agents');
  const first = await stage.spawn();
  const handle = await stage.start('late', 'x');
  await until(() => stage.tally()['charged x'] === 1, 'the charge');
  await until(async () => (await handle.query(records)).length === 1, 'its record');
  await first.kill();
  await stage.spawn();
  await approveWhenAsked(handle, 'confirm-1');
  expect(await handle.result()).toBe('charged x');
  const { 'start x': starts, ...done } = stage.tally();
  expect(starts).toBeGreaterThanOrEqual(2);
  expect(done).toEqual({ 'charge x': 1, 'charged x': 1 });
});

test('a branch with its own work beside an approval is not forgotten when its host dies', async () => {
  await using stage = await scene('fault-agents');
  const first = await stage.spawn({ plugin: { heartbeatTimeout: '2s', watchFor: 3_000 } });
  const handle = await stage.start('besideApproval', 'b');
  await until(async () => (await handle.query(waiting)).approvals.length === 1, 'the approval');
  await until(
    async () =>
      (await handle.describe()).raw.pendingActivities?.some(
        (one) => one.activityType?.name === 'agents.awaitLoop',
      ),
    'the watch',
  );
  await first.kill();
  await stage.spawn();
  // Nobody approves: the branch must come by itself.
  await until(() => stage.tally()['branch b'] === 1, 'the branch');
  await handle.signal(approve, { id: 'confirm-1' });
  expect(await handle.result()).toEqual(['confirmed b', 'branch b']);
  expect(stage.asked('branch b')).toBe(1);
});

test('a loop that kills its process between steps ends its run, typed, and not every worker', async () => {
  const end = async (agentName: string) => {
    await using stage = await scene('fault-agents');
    const handle = await stage.start(agentName, 'k');
    const result = handle.result();
    const respawning = respawnUntil(stage, result);
    await expect(result).rejects.toMatchObject({ cause: { type: 'LoopKillsWorkerError' } });
    await respawning;
    return { kills: stage.tally()['kill k'], asked: stage.asked('first k') };
  };
  // The first loop dies before the run has its answer, the second of the same answer; the server says of neither the
  // second's task nor of its first retry that it was tried before; then five count.
  expect(await Promise.all(['killer', 'slowKiller'].map(end))).toEqual([
    { kills: 8, asked: 2 },
    { kills: 5, asked: 1 },
  ]);
});

test('traces of builds that come late, from processes that stood still, do not keep a run from its end', async () => {
  await using stage = await scene('fault-agents');
  const handle = await stage.start('killerOfThree', 's');
  const result = handle.result();
  const respawning = respawnUntil(stage, result);
  await until(() => stage.asked('last s') === 1, 'the last turn');
  await handle.signal(BUILD_SIGNAL, 'another');
  expect(await result).toBe('last s');
  expect(stage.tally()['kill s']).toBe(3);
  await respawning;
});

test('a failed branch that nobody awaits ends neither the worker nor the run', async () => {
  await using stage = await scene('fault-agents');
  const worker = await stage.spawn();
  const handle = await stage.start('detached', 'd');
  expect(await handle.result()).toBe('goes on d');
  expect(worker.process.exitCode).toBeNull();
});

test('a slow host taken for a dead one pays no turn again', async () => {
  await using stage = await scene('fault-agents');
  const worker = await stage.spawn();
  const blocked = await stage.start('blocked', 'slow');
  expect(await blocked.result()).toEqual(['a slow', 'b slow']);
  expect([stage.asked('a slow'), stage.asked('b slow')]).toEqual([1, 1]);
  const paused = await stage.start('twoTurns', 'paused');
  await until(() => stage.asked('b paused') === 1, 'both turns under way');
  worker.pause();
  const stopped = Date.now();
  await until(() => Date.now() > stopped + 4_000, 'a pause longer than the heartbeat timeout');
  worker.resume();
  expect(await paused.result()).toEqual(['a paused', 'b paused']);
  expect([stage.asked('a paused'), stage.asked('b paused')]).toEqual([1, 1]);
});

test('a race has the same winner after a rebuild, and the loser never charges', async () => {
  await using stage = await scene('fault-agents');
  const first = await stage.spawn();
  const handle = await stage.start('racer', 'r');
  await until(() => stage.asked('after r') === 1, 'the last turn');
  await until(
    async () => eventsOf(await chainOf(handle), 'activityTaskCompleted').length >= 3,
    'both turns and the charge',
  );
  await first.kill();
  await stage.spawn();
  expect(await handle.result()).toBe('A r');
  expect(Object.keys(stage.tally()).filter((what) => what.startsWith('charge '))).toEqual(['charge A r']);
});

test('what may have had an effect is awaited and recorded when the agent fails, and cut off when it succeeds', async () => {
  await using stage = await scene('fault-agents');
  await stage.spawn();
  const failing = await stage.start('leaver', { id: 'f', fail: true });
  await expect(failing.result()).rejects.toMatchObject({ cause: { type: 'RangeError', message: 'no more' } });
  expect(stage.tally()['charged f']).toBe(1);
  const [history] = await chainOf(failing);
  expect(eventsOf([history!], 'activityTaskCompleted')).toHaveLength(2);
  const leaving = await stage.start('leaver', { id: 's', fail: false });
  expect(await leaving.result()).toBe('left');
  expect(eventsOf(await chainOf(leaving), 'activityTaskCompleted')).toHaveLength(1);
});

test('steps of any number fit: 500 of 10 KB in one breath', async () => {
  await using stage = await scene('fault-agents');
  await stage.spawn();
  const heavy = await stage.start('crowd', { id: 'heavy', count: 500, bytes: 10_000 });
  expect(await heavy.result()).toBe(500);
  expect(Object.values(stage.tally()).every((times) => times === 1)).toBe(true);
  await assertReplays(await chainOf(heavy));
});

test('steps of more than a megabyte, asked in one breath, each get a task of their own', async () => {
  await using stage = await scene('fault-agents');
  await stage.spawn();
  const handle = await stage.start('crowd', { id: 'large', count: 4, bytes: 1_300_000 });
  expect(await handle.result()).toBe(4);
  expect(Object.values(stage.tally()).every((times) => times === 1)).toBe(true);
  await assertReplays(await chainOf(handle));
});

test('a run reset to an earlier point goes on from there; what came before is not done again', async () => {
  await using stage = await scene('fault-agents');
  await stage.spawn();
  const handle = await stage.start('racer', 'reset');
  await until(() => stage.asked('after reset') === 1, 'the last turn');
  const [history] = await chainOf(handle);
  const tasks = eventsOf([history!], 'workflowTaskCompleted');
  const { workflowService, options } = await client();
  const { runId } = await workflowService.resetWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId: handle.workflowId, runId: handle.firstExecutionRunId },
    workflowTaskFinishEventId: tasks.at(-1)!.eventId!,
    reason: 'a test',
    requestId: handle.workflowId,
  });
  const again = (await client()).workflow.getHandle(handle.workflowId, runId);
  expect(await again.result()).toBe('A reset');
  expect(stage.asked('A reset')).toBe(1);
  expect(stage.tally()['charge A reset']).toBe(1);
  await assertReplays([await again.fetchHistory()]);
});

test('a cache much smaller than the active runs changes nothing but time', async () => {
  await using stage = await scene('fault-agents');
  await stage.spawn({ worker: { maxCachedWorkflows: 2, maxConcurrentWorkflowTaskExecutions: 2 } });
  const handles = await Promise.all(
    Array.from({ length: 8 }, async (_, i) => await stage.start('steady', `cache${i}`)),
  );
  expect(await Promise.all(handles.map(async (handle) => (await handle.result()) as unknown))).toEqual(
    Array.from({ length: 8 }, (_, i) => [`a cache${i}`, `charged cache${i}`, `b cache${i}`]),
  );
  expect(Object.entries(stage.tally()).filter(([, times]) => times > 1)).toEqual([]);
  expect(stage.provider.requests).toHaveLength(16);
});
