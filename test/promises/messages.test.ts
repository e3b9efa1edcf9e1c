/** What people say to a running agent. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { approve, message, messageUpdate, waiting } from '../../src/index.ts';
import { createTestEnvironment, createTestWorker } from '../../src/testing/index.ts';
import { listener } from '../fixtures/people-agents.ts';
import { scene } from '../kit/scene.ts';
import {
  assertReplays,
  chainOf,
  client,
  quietRuntime,
  unique,
  until,
  workflowBundle,
} from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';
import { QUICK_START } from '../kit/workers.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  quietRuntime();
  environment = await createTestEnvironment();
});
afterAll(async () => await environment.teardown());

test('each message is read once, in order, over kills and continue-as-new, also those that came before it was asked for', async () => {
  await using stage = await scene('people-agents', { plugin: { continueAfterRecords: 2 } });
  const { workflow } = await client();
  const { taskQueue } = stage;
  const handle = await workflow.signalWithStart('listener', {
    taskQueue,
    workflowId: taskQueue,
    signal: message,
    signalArgs: ['one'],
    ...QUICK_START,
  });
  await handle.signal(message, { text: 'two', by: 'ann' });
  const worker = await stage.spawn();
  await until(() => stage.tally()['heard two'], 'two are read');
  for (const bad of [undefined, null, 7, '', {}, { text: 7 }, { text: '' }, { text: 'x'.repeat(300_000) }])
    await workflow.getHandle(taskQueue).signal('message', bad);
  await worker.kill();
  await workflow.getHandle(taskQueue).signal(message, 'three');
  await stage.spawn();
  await until(() => stage.tally()['heard three'], 'the third is read');
  await workflow.getHandle(taskQueue).signal(message, 'stop');
  const root = workflow.getHandle(taskQueue);
  expect(await root.result()).toEqual(['one', 'ann: two', 'three', 'stop']);
  await assertReplays(await chainOf(handle));
});

test('an update starts an agent with its first message, and says why another is not taken', async () => {
  await using stage = await scene('people-agents');
  await stage.spawn();
  const { workflow } = await client();
  const startWorkflowOperation = new WithStartWorkflowOperation(listener, {
    taskQueue: stage.taskQueue,
    workflowId: stage.taskQueue,
    args: [],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  const receipt = await workflow.executeUpdateWithStart(messageUpdate, {
    startWorkflowOperation,
    args: [{ text: 'hello' }],
  });
  expect(receipt).toEqual({ at: expect.any(Number) });
  const handle = await startWorkflowOperation.workflowHandle();
  await expect(handle.executeUpdate(messageUpdate, { args: [{ text: '' }] })).rejects.toMatchObject({
    cause: { message: 'it has no "text"' },
  });
  await handle.executeUpdate(messageUpdate, { args: ['stop'] });
  const heard: string[] = await handle.result();
  expect(heard).toEqual(['hello', 'stop']);
  await assertReplays(await chainOf(workflow.getHandle(stage.taskQueue)));
});

test('a message is never an answer, and one that nobody reads is refused when the run ends', async () => {
  await using stage = await scene('people-agents');
  await stage.spawn();
  const handle = await stage.start('deaf');
  await untilWaiting(handle, ['refund-1']);
  await handle.signal(message, '{"id":"refund-1"}');
  await until(async () => (await handle.query(waiting)).unread === 1, 'it is unread');
  expect((await handle.query(waiting)).approvals).toHaveLength(1);
  await handle.signal(approve, { id: 'refund-1' });
  expect(await handle.result()).toBe('refunded $1 for X');
  expect((await handle.query(waiting)).refused.map(({ signal, reason }) => [signal, reason])).toEqual([
    ['message', 'the run ended and nobody had read it: "{"id":"refund-1"}"'],
  ]);
});

test('who hears nothing in time goes on without', async () => {
  const taskQueue = unique('listener');
  const worker = await createTestWorker(environment, {
    agents: [listener],
    taskQueue,
    worker: { workflowBundle },
  });
  await worker.runUntil(async () => {
    const { workflow } = environment.client;
    const handle = await workflow.start(listener, { taskQueue, workflowId: taskQueue, args: [] });
    await handle.signal(message, 'one');
    const before = await environment.currentTimeMs();
    expect(await handle.result()).toEqual(['one']);
    expect((await environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(24 * 3_600_000);
  });
});
