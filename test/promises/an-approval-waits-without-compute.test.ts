import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { approve, waiting } from '../../src/index.ts';
import { createTestEnvironment, createTestWorker } from '../../src/testing/index.ts';
import { AgentsPlugin } from '../../src/worker/index.ts';
import { hurried, monthly, refunding } from '../fixtures/waiting-agents.ts';
import { newEffects, tally } from '../kit/effects.ts';
import { quietRuntime, unique, until, workflowBundle } from '../kit/temporal.ts';

const MONTH = 30 * 24 * 3_600_000;
const agents = [hurried, refunding, monthly];
const environments: Record<string, TestWorkflowEnvironment> = {};

beforeAll(async () => {
  quietRuntime();
  environments['ours'] = await createTestEnvironment();
  environments['their own'] = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: process.env['KIT_TEST_SERVER']! } },
  });
});
afterAll(
  async () =>
    void (await Promise.all(Object.values(environments).map((environment) => environment.teardown()))),
);

const workers = {
  ours: async (taskQueue: string, more: Partial<WorkerOptions> = {}) =>
    await createTestWorker(environments['ours']!, { agents, taskQueue, worker: { workflowBundle, ...more } }),
  'their own': async (taskQueue: string, more: Partial<WorkerOptions> = {}) =>
    await Worker.create({
      connection: environments['their own']!.nativeConnection,
      workflowBundle,
      ...more,
      taskQueue,
      plugins: [new AgentsPlugin({ agents })],
    }),
};

/** The one approval a run waits for, once nothing of it is running and nothing more comes to its history. */
async function atRest(handle: WorkflowHandle): Promise<string> {
  return await until(async () => {
    const { approvals } = await handle.query(waiting);
    if (approvals.length !== 1 || (await running(handle)).length > 0) return false;
    const { historyLength } = await handle.describe();
    await delay(300);
    return (await handle.describe()).historyLength === historyLength && approvals[0]!.id;
  }, 'an approval, and nothing running');
}

async function running(handle: WorkflowHandle): Promise<(string | null | undefined)[]> {
  const { pendingActivities, pendingWorkflowTask } = (await handle.describe()).raw;
  const types = (pendingActivities ?? []).map(({ activityType }) => activityType?.name);
  return pendingWorkflowTask ? [...types, 'a workflow task'] : types;
}

describe.each(['ours', 'their own'] as const)('in a time-skipping environment, %s', (whose) => {
  test('a run waits a month for an approval: nothing of it runs, nothing is added to its history, then it goes on', async () => {
    const environment = environments[whose]!;
    const taskQueue = unique('refunding');
    newEffects();
    const worker = await workers[whose](taskQueue);
    await worker.runUntil(async () => {
      const { workflow } = environment.client;
      const handle = await workflow.start(refunding, { taskQueue, workflowId: taskQueue, args: [5] });
      const id = await atRest(handle);
      const before = {
        time: await environment.currentTimeMs(),
        length: (await handle.describe()).historyLength,
      };
      const began = Date.now();

      await environment.sleep('30 days');

      expect(Date.now() - began).toBeLessThan(10_000);
      expect((await environment.currentTimeMs()) - before.time).toBeGreaterThanOrEqual(MONTH);
      expect(await running(handle)).toEqual([]);
      expect((await handle.describe()).historyLength).toBe(before.length);
      expect(tally()).toEqual({});
      await handle.signal(approve, { id });
      expect(await handle.result()).toBe('refunded $5');
    });
    expect(tally()).toEqual({ 'refund 5': 1 });
  });

  test('all that runs is stopped for a month, and started again: the run goes on', async () => {
    const environment = environments[whose]!;
    const taskQueue = unique('refunding');
    newEffects();
    const { workflow } = environment.client;
    const handle = await workflow.start(refunding, { taskQueue, workflowId: taskQueue, args: [6] });
    // Without a cache: this server leaves the tasks of a run to the worker that has it cached, though that is gone.
    const make = async () => await workers[whose](taskQueue, { maxCachedWorkflows: 0 });
    const before = await make();
    const id = await before.runUntil(async () => await atRest(handle));

    await environment.sleep('30 days');

    const after = await make();
    const result = await after.runUntil(async () => {
      expect(await atRest(handle)).toBe(id);
      await handle.signal(approve, { id });
      return await handle.result();
    });
    expect(result).toBe('refunded $6');
    expect(tally()).toEqual({ 'refund 6': 1 });
  });

  test('an approval with a timeout waits that long, then goes by its rule, and a late answer is refused', async () => {
    const environment = environments[whose]!;
    const taskQueue = unique('hurried');
    newEffects();
    const worker = await workers[whose](taskQueue);
    await worker.runUntil(async () => {
      const { workflow } = environment.client;
      const handle = await workflow.start(hurried, { taskQueue, workflowId: taskQueue, args: [500] });
      const approvals = await until(async () => {
        const pending = await handle.query(waiting);
        return pending.approvals.length === 2 && (await running(handle)).length === 0 && pending.approvals;
      }, 'both approvals, and nothing running');
      expect(approvals).toMatchObject([
        { id: 'refund_if_approved-1', prompt: 'Refund $500?', audience: 'finance' },
        { id: 'refund_unless_rejected-1', prompt: 'Refund $500?', audience: 'finance' },
      ]);
      for (const { askedAt, expiresAt } of approvals) expect(expiresAt! - askedAt).toBe(2 * 24 * 3_600_000);
      expect(tally()).toEqual({ 'refund_if_approved 100': 1 });
      expect(await handle.result()).toEqual([
        'refunded $100',
        'refund_if_approved was not approved: nobody decided in time.',
        'refunded $500',
      ]);
      // Nothing looked after it meanwhile: one timer each.
      const types = (await handle.fetchHistory()).events!.flatMap((event) =>
        event.timerStartedEventAttributes ? ['timer'] : [],
      );
      expect(types).toEqual(['timer', 'timer']);
    });
    expect(tally()).toEqual({ 'refund_if_approved 100': 1, 'refund_unless_rejected 500': 1 });
  });

  test('a timer beside an approval is due after a month of skipped time', async () => {
    const environment = environments[whose]!;
    const taskQueue = unique('monthly');
    newEffects();
    const worker = await workers[whose](taskQueue);
    await worker.runUntil(async () => {
      const { workflow } = environment.client;
      const handle = await workflow.start(monthly, { taskQueue, workflowId: taskQueue, args: [7] });
      const start = await environment.currentTimeMs();
      await handle.signal(approve, { id: await atRest(handle) });
      const began = Date.now();
      expect(await handle.result()).toBe('refunded $7');
      expect(Date.now() - began).toBeLessThan(30_000);
      expect((await environment.currentTimeMs()) - start).toBeGreaterThanOrEqual(MONTH);
    });
    expect(tally()).toEqual({ 'refund 7': 1 });
  });
});
