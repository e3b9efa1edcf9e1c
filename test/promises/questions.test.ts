import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { answer, approve, waiting } from '../../src/index.ts';
import { createTestEnvironment, createTestWorker } from '../../src/testing/index.ts';
import { hasty, signing } from '../fixtures/question-agents.ts';
import { scene } from '../kit/scene.ts';
import {
  assertReplays,
  chainOf,
  eventsOf,
  quietRuntime,
  unique,
  until,
  workflowBundle,
} from '../kit/temporal.ts';

const DAY = 24 * 3_600_000;
const questions = async (handle: WorkflowHandle) => (await handle.query(waiting)).questions;
const asked = async (handle: WorkflowHandle, id: string) =>
  await until(async () => {
    // While no worker lives, nobody answers a query.
    const open = await questions(handle).catch(() => []);
    return open.find((question) => question.id === id);
  }, id);

test('a question waits for an answer that fits, over a kill, and is asked once', async () => {
  await using stage = await scene('question-agents');
  const first = await stage.spawn();
  const handle = await stage.start('shipping', 'A-1');
  expect(await asked(handle, 'ship-1')).toMatchObject({
    prompt: 'Ship A-1?',
    audience: 'sales',
    schema: { type: 'boolean' },
  });
  await first.kill();
  await handle.signal(answer, { id: 'ship-1', value: 'yes' });
  await handle.signal(approve, { id: 'ship-1' });
  // The one question that there ever was needs no id.
  await handle.signal(answer, { value: true, by: 'ann' });
  await stage.spawn();
  await asked(handle, 'ask-1');
  expect((await handle.query(waiting)).refused.map(({ signal, reason }) => [signal, reason])).toEqual([
    ['answer', expect.stringContaining('the answer to "ship-1" does not fit')],
    ['approve', '"ship-1" is a question: send "answer" with a "value"'],
  ]);
  await handle.signal(answer, { value: 'air' });
  await handle.signal(answer, { id: 'ask-1', value: 'rail' });
  await handle.signal(answer, { id: 'ask-1', value: 'sea' });
  await handle.signal(answer, { id: 'ask-1', value: 'air' });
  expect(await handle.result()).toEqual({ order: 'A-1', ship: true, how: 'sea' });
  await assertReplays(await chainOf(handle));
});

describe('in time', () => {
  let environment: TestWorkflowEnvironment;
  beforeAll(async () => {
    quietRuntime();
    environment = await createTestEnvironment();
  });
  afterAll(async () => await environment.teardown());

  /** Runs an agent in skipped time; gives its handle to what happens meanwhile. */
  const run = async (agent: string, meanwhile: (handle: WorkflowHandle) => Promise<unknown>) => {
    const taskQueue = unique(agent);
    const agents = [hasty, signing];
    const worker = await createTestWorker(environment, { agents, taskQueue, worker: { workflowBundle } });
    return await worker.runUntil(async () => {
      const options = { taskQueue, workflowId: taskQueue, args: ['a deed'] };
      const handle = await environment.client.workflow.start(agent, options);
      const result = await meanwhile(handle);
      const timers = eventsOf([await handle.fetchHistory()], 'timerStarted').length;
      return { result, timers };
    });
  };
  const audience = async (handle: WorkflowHandle) => (await handle.query(waiting)).approvals[0]?.audience;

  test('an approval that nobody gives is put to others, who may decide it', async () => {
    const { result, timers } = await run('signing', async (handle) => {
      await until(async () => (await audience(handle)) === 'clerk', 'the clerk');
      await environment.sleep(DAY + 60_000);
      await until(async () => (await audience(handle)) === 'director', 'the director');
      await handle.signal(approve, { id: 'sign-1', by: 'director' });
      return await handle.result();
    });
    expect([result, timers]).toEqual(['signed a deed', 2]);
  });

  test('an approval that they do not give either is decided as was said', async () => {
    const { result, timers } = await run('signing', async (handle) => (await handle.result()) as unknown);
    expect([result, timers]).toEqual(['signed a deed', 2]);
  });

  test('a question that nobody answers fails by name', async () => {
    await run('hasty', async (handle) => {
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'AnswerTimeoutError' } });
    });
  });
});
