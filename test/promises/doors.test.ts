/** What comes to a run at a bad moment, or from somebody who means no good. */
import { describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { approve, message, messageUpdate, sendDecision, waiting } from '../../src/index.ts';
import { DECIDE_SIGNAL, NESTED_SIGNAL } from '../../src/protocol/names.ts';
import { noCarry } from '../../src/records/hand-over.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, eventsOf, unique, until } from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';

const ids = (n: number, path = '') => Array.from({ length: n }, (_, i) => `${path}refund-${i + 1}`);
const MIB = 1024 * 1024;

/** Sends what no client of JavaScript could make. */
async function signalJson({ workflowId }: WorkflowHandle, signalName: string, json: string): Promise<void> {
  const text = (value: string) => new TextEncoder().encode(value);
  await (
    await client()
  ).workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName,
    input: { payloads: [{ metadata: { encoding: text('json/plain') }, data: text(json) }] },
  });
}

describe('at a bad moment', () => {
  test.each(['decide', 'message'])(
    'an update, %s, comes after a query has seen what no task has',
    async (kind) => {
      // The task of the signal lies on the queue of a worker that is gone; only a query is replayed by the new one.
      await using stage = await scene('people-agents', {
        worker: { stickyQueueScheduleToStartTimeout: '6s' },
      });
      const first = await stage.spawn();
      const handle: WorkflowHandle = await stage.start('refunder', ['A', 'B', 'C']);
      await untilWaiting(handle, ids(3));
      await first.kill();
      await handle.signal(approve, { id: 'refund-1' });
      await stage.spawn();
      const asked = handle.query(waiting).catch(() => {});
      if (kind === 'decide') await sendDecision(handle, { id: 'refund-2', decision: 'approve' });
      else await handle.executeUpdate(messageUpdate, { args: ['hello'] });
      for (const id of kind === 'decide' ? ['refund-3'] : ['refund-2', 'refund-3'])
        await handle.signal(approve, { id });
      expect(await handle.result()).toHaveLength(3);
      await asked;
      await assertReplays(await chainOf(handle));
    },
  );

  test('decisions come one by one at the root, while the child below goes on in new histories', async () => {
    await using stage = await scene('people-agents', { plugin: { continueAfterRecords: 2 } });
    await stage.spawn();
    const runs = await Promise.all(
      [0, 70, 100].map(async (pause) => {
        const root = await stage.start('boss', ['A', 'B', 'C', 'D', 'E', 'F']);
        for (const { id } of await untilWaiting(root, ids(6, 'refunder-1/'))) {
          await root.signal(approve, { id });
          await new Promise((resolve) => setTimeout(resolve, pause));
        }
        return root;
      }),
    );
    for (const root of runs) expect(await root.result()).toHaveLength(6);
    expect(Object.values(stage.tally()).reduce((sum, n) => sum + n)).toBe(18);
  });

  test('a message that came long before is read once an approval is given, in a handful of events', async () => {
    await using stage = await scene('people-agents');
    await stage.spawn();
    const handle = await stage.start('payThenHear');
    await untilWaiting(handle, ['refund-1']);
    await handle.signal(message, 'hello');
    await until(async () => (await handle.query(waiting)).unread === 1, 'it is unread');
    await handle.signal(approve, { id: 'refund-1' });
    expect(await handle.result()).toEqual(['refunded $1 for X', 'hello']);
    expect((await handle.fetchHistory()).events!.length).toBeLessThan(80);
    await assertReplays(await chainOf(handle));
  });

  test('an update waits for the child it went down to, which is ended: whoever sent it is told', async () => {
    await using stage = await scene('people-agents');
    const worker = await stage.spawn();
    const root: WorkflowHandle = await stage.start('manager', ['A']);
    const [pending] = await untilWaiting(root, ['clerk-1/refund-1']);
    const { workflow } = await client();
    await worker.kill();
    // The child is over before it can take anything; its parent learns of both at once.
    await workflow.getHandle(pending!.workflowId!).terminate('no more');
    const told = sendDecision(root, { id: 'clerk-1/refund-1', decision: 'approve' }).catch(
      ({ code }: { code?: string }) => code,
    );
    await stage.spawn();
    expect(['closed', 'unknown-id', 'run-over']).toContain(await told);
    await expect(root.result()).rejects.toThrow();
    expect(stage.tally()['refunded A 100']).toBeUndefined();
  });
});

describe('from somebody who means no good', () => {
  const pending = { id: 'clerk-1/x', name: 'x', prompt: 'Pay?', askedAt: 1 };

  test('what only a child may say harms neither the run nor what waits', async () => {
    await using stage = await scene('people-agents');
    await stage.spawn();
    const root: WorkflowHandle = await stage.start('manager', ['A']);
    const [asked] = await untilWaiting(root, ['clerk-1/refund-1']);
    const child = asked!.workflowId!;
    const report = { child, approvals: [], questions: [], outcomes: [] };
    for (const forged of [
      undefined,
      null,
      'x',
      { child },
      { ...report, outcomes: [null, {}, { door: null }, { door: {}, workflowId: 'x', refusal: {} }] },
      { ...report, approvals: [null, { id: 'clerk-1/x' }, { ...pending, prompt: 7 }] },
      { ...report, approvals: [{ ...pending, expiresAt: 'never', onTimeout: 'toString', audience: {} }] },
      { ...report, questions: [{ ...pending }, { ...pending, schema: { $ref: '#/nowhere' } }] },
      { ...report, approvals: [{ ...pending, edit: { pattern: '(' } }] },
      { ...report, approvals: [{ ...pending, prompt: 'x'.repeat(MIB) }] },
    ])
      await root.signal(NESTED_SIGNAL, forged);
    await until(async () => (await root.query(waiting)).approvals.length === 1, 'the last of them is shown');
    // What it made up can be decided, and is refused where it would be.
    await root.signal(approve, { id: 'clerk-1/x' });
    const { workflow } = await client();
    for (const forged of [
      undefined,
      { door: null, sent: { how: 'approve', id: 'refund-1' } },
      { door: {}, sent: { how: 'approve', id: 'refund-1' } },
      { door: { workflowId: 'w'.repeat(MIB), runId: 'r' }, sent: { how: 'approve', id: 'refund-1' } },
      { door: { workflowId: 'w', runId: 'r' }, sent: { how: 'answer', id: 'refund-1', value: 1 } },
      { door: { workflowId: 'w', runId: 'r' }, sent: { how: 'steal', id: 'refund-1' } },
      { door: { workflowId: 'w', runId: 'r' }, sent: { how: { toString: 1 }, id: 'refund-1' } },
    ])
      await workflow.getHandle(child).signal(DECIDE_SIGNAL, forged);
    const refused = await until(async () => {
      const { refused: all } = await root.query(waiting);
      return all.length > 0 && all;
    }, 'the made up one is refused');
    expect(refused.map(({ signal, reason }) => [signal, reason])).toEqual([
      ['approve', expect.stringMatching(/^nothing here has the id "clerk-1\/x"/)],
    ]);
    await workflow.getHandle(child).signal(approve, { id: 'refund-1' });
    expect(await root.result()).toEqual([['A before', 'refunded $100 for A', 'A after']]);
    for (const handle of [root, workflow.getHandle(child)]) {
      const histories = await chainOf(handle);
      expect(
        eventsOf(histories, 'workflowTaskFailed')
          .map((event) => event.workflowTaskFailedEventAttributes!.failure!.message)
          .filter((why) => why !== 'UnhandledCommand'),
      ).toEqual([]);
      await assertReplays(histories);
    }
  });

  test('what only a parent may say does not keep a run from going on in a new history', async () => {
    await using stage = await scene('people-agents', { plugin: { continueAfterRecords: 2 } });
    await stage.spawn();
    const handle: WorkflowHandle = await stage.start('listener');
    await handle.signal(DECIDE_SIGNAL, {
      door: { workflowId: 'x', runId: 'y' },
      sent: { how: 'approve', id: 'no' },
    });
    const { workflow } = await client();
    const latest = workflow.getHandle(handle.workflowId);
    for (const text of ['1', '2', '3', '4', 'stop']) await latest.signal(message, text);
    expect(await latest.result()).toEqual(['1', '2', '3', '4', 'stop']);
  });

  test('what is as large as the server lets through is refused, and the run goes on', async () => {
    await using stage = await scene('people-agents');
    await stage.spawn();
    const root: WorkflowHandle = await stage.start('manager', ['A']);
    await untilWaiting(root, ['clerk-1/refund-1']);
    const huge = 'x'.repeat(2 * MIB - 200);
    const reasons = [];
    for (const [name, payload] of [
      ['reject', { id: 'nothing', arguments: huge }],
      ['approve', { id: 'nothing', value: huge }],
      ['approve', { id: 'clerk-1/refund-1', arguments: huge }],
      ['approve', `{"id":"clerk-1/refund-1","arguments":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
      ['message', huge],
    ] as const) {
      if (typeof payload === 'string' && payload.startsWith('{')) await signalJson(root, name, payload);
      else await root.signal(name, payload);
      const { refused } = await until(async () => {
        const seen = await root.query(waiting);
        return seen.refused.length > reasons.length && seen;
      }, `${name} is refused`);
      reasons.push(refused.at(-1)!.reason);
    }
    expect(reasons).toEqual([
      'nothing here has the id "nothing"; what waits: clerk-1/refund-1',
      'nothing here has the id "nothing"; what waits: clerk-1/refund-1',
      expect.stringMatching(/^its "arguments" is too large: it has 2096954 bytes; the limit is 262144/),
      expect.stringMatching(/^its "arguments" is too large: it is nested too deeply/),
      'it has 2096954 bytes; the limit is 65536',
    ]);
    await root.signal('approve', { id: 'clerk-1/refund-1' });
    expect(await root.result()).toHaveLength(1);
  });

  test('a second argument that is none ends the run by name', async () => {
    await using stage = await scene('people-agents');
    await stage.spawn();
    const { workflow } = await client();
    const carry = noCarry('chain');
    const ends = [
      { version: 1, nesting: 'x' },
      { version: 1, nesting: { path: 7 } },
      { version: 1, from: { workflowId: 7 } },
      { ...carry, labels: [null] },
      { ...carry, inbox: [{}] },
      { ...carry, approvals: { minted: 5, asked: [] } },
      { ...carry, approvals: { minted: [], asked: [null] } },
      { ...carry, losses: [1] },
      { ...carry, open: [7] },
      { ...carry, records: [null] },
    ].map(async (second) => {
      const options = { taskQueue: stage.taskQueue, workflowId: unique('listener'), args: [null, second] };
      const handle = await workflow.start('listener', options);
      return await handle.result().catch(({ cause }: { cause: { type: string } }) => cause.type);
    });
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['DeclarationError']));
  });
});
