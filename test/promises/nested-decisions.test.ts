/** What waits in children is seen and decided at the root, or where it is. */
import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { answer, approve, decisionsOf, reject, sendDecision, waiting } from '../../src/index.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, eventsOf, until } from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';

/** Every run of the tree, the root first. */
async function treeOf(root: WorkflowHandle): Promise<WorkflowHandle[]> {
  const { workflow } = await client();
  const histories = await chainOf(root);
  const children = eventsOf(histories, 'childWorkflowExecutionStarted').map(
    (event) => event.childWorkflowExecutionStartedEventAttributes!.workflowExecution!.workflowId!,
  );
  const below = await Promise.all(children.map(async (id) => await treeOf(workflow.getHandle(id))));
  return [root, ...below.flat()];
}

test('two levels down, over kills: only the call that is decided goes on, and nothing is done again', async () => {
  await using stage = await scene('people-agents');
  const first = await stage.spawn();
  const root = await stage.start('director', [['A', 'B'], ['C']]);
  const all = ['manager-1/clerk-1/refund-1', 'manager-1/clerk-2/refund-1', 'manager-2/clerk-1/refund-1'];
  const pending = await untilWaiting(root, all);
  expect(
    pending.map(({ prompt, workflowId }) => [prompt, workflowId?.startsWith(`${root.workflowId}/`)]),
  ).toEqual([
    ['Refund $100 for A?', true],
    ['Refund $100 for B?', true],
    ['Refund $100 for C?', true],
  ]);
  await first.kill();
  await stage.spawn();
  // Answered at the root, as an update, which hears from below; at the child; and at the root, by signal.
  expect(await sendDecision(root, { id: all[1]!, decision: 'approve', by: 'ann' })).toEqual({
    id: all[1],
    workflowId: pending[1]!.workflowId,
  });
  await until(() => stage.tally()['looked up B after'], 'the clerk of B goes on');
  expect((await untilWaiting(root, [all[0]!, all[2]!])).map(({ id }) => id)).toEqual([all[0], all[2]]);
  const clerkOfC = (await client()).workflow.getHandle(pending[2]!.workflowId!);
  await clerkOfC.signal(reject, { id: 'refund-1', reason: 'C is gone.' });
  await expect(sendDecision(root, { id: all[1]!, decision: 'reject' })).rejects.toMatchObject({
    code: 'unknown-id',
  });
  await root.signal(approve, { id: all[0]!, arguments: { order: 'A', usd: 7 } });
  expect(await root.result()).toEqual({
    free: 'the weather',
    managed: [
      [
        ['A before', 'refunded $7 for A', 'A after'],
        ['B before', 'refunded $100 for B', 'B after'],
      ],
      [['C before', { error: expect.objectContaining({ message: 'C is gone.' }) }, 'C after']],
    ],
  });
  const counted = Object.entries(stage.tally()).filter(([what]) => /^(looked|refunded)/.test(what));
  expect(Object.fromEntries(counted)).toEqual({
    'looked up the weather': 1,
    'looked up A before': 1,
    'looked up A after': 1,
    'looked up B before': 1,
    'looked up B after': 1,
    'looked up C before': 1,
    'looked up C after': 1,
    'refunded A 7': 1,
    'refunded B 100': 1,
  });
  // What came in at the root is found there.
  const clerkOfA = pending[0]!.workflowId!;
  const { identity } = (await client()).options;
  expect(await decisionsOf(await client(), clerkOfA)).toMatchObject([
    { id: all[0], decision: 'approved', door: { workflowId: root.workflowId, signal: 'approve' }, identity },
  ]);
  for (const run of await treeOf(root)) await assertReplays(await chainOf(run));
});

test('a decision at the root loses against one at the child, and whoever sent it is told', async () => {
  await using stage = await scene('people-agents');
  const worker = await stage.spawn();
  const root = await stage.start('manager', ['A']);
  const [pending] = await untilWaiting(root, ['clerk-1/refund-1']);
  await worker.kill();
  const clerk = (await client()).workflow.getHandle(pending!.workflowId!);
  await clerk.signal(approve, { id: 'refund-1', by: 'ann' });
  await root.signal(reject, { id: 'clerk-1/refund-1', by: 'bob' });
  await stage.spawn();
  expect(await root.result()).toEqual([['A before', 'refunded $100 for A', 'A after']]);
  const reasons = (await root.query(waiting)).refused.map(({ signal, reason }) => [signal, reason]);
  expect(reasons).toEqual([
    [
      'reject',
      expect.stringMatching(/clerk-1\/refund-1" (was already approved by ann|does not wait any more)/),
    ],
  ]);
});

test('a tool that suspends asks, sleeps and has a sub-agent: over kills, what ran is not repeated', async () => {
  await using stage = await scene('people-agents');
  const kill = async (worker: { kill(): Promise<unknown> }) => {
    await worker.kill();
    return await stage.spawn();
  };
  let worker = await stage.spawn();
  const root = await stage.start('buyer', 'Acme');
  const limit = await until(async () => {
    const { questions } = await root.query(waiting).catch(() => ({ questions: [] }));
    return questions[0];
  }, 'the limit is asked for');
  expect(limit).toMatchObject({ id: 'negotiate-1/limit-1', prompt: 'How much for Acme?' });
  worker = await kill(worker);
  await root.signal(answer, { id: 'negotiate-1/limit-1', value: 'much' });
  await until(async () => (await root.query(waiting)).refused.length === 1, 'a text is no number');
  await root.signal(answer, { id: 'negotiate-1/limit-1', value: 12 });
  await untilWaiting(root, ['negotiate-1/gated-1/start-1']);
  worker = await kill(worker);
  await untilWaiting(root, ['negotiate-1/gated-1/start-1']);
  await root.signal(approve, { id: 'negotiate-1/gated-1/start-1' });
  expect(await root.result()).toEqual({ limit: 12, written: 'about Acme' });
  const { buys: _restarts, ...did } = stage.tally();
  const negotiations = Object.keys(did).filter((what) => what.startsWith('negotiation'));
  // One call, one key, however often its body was started.
  expect(negotiations).toHaveLength(1);
  expect(did).toMatchObject({
    'looked up prices of Acme': 1,
    'offered 12': 1,
    // The sub-agent's own code, which a lost task may start again.
    'writes about Acme': expect.any(Number),
    tried: 1,
  });
  const runs = await treeOf(root);
  const started = (await runs[1]!.fetchHistory()).events![0]!.workflowExecutionStartedEventAttributes!;
  expect(started.workflowType!.name).toBe('negotiate');
  expect(Number(started.workflowExecutionTimeout!.seconds)).toBe(60 * 24 * 3_600);
  for (const run of runs) await assertReplays(await chainOf(run));
});

test('what a suspended call throws is thrown again after as many restarts as it may have', async () => {
  await using stage = await scene('people-agents');
  await stage.spawn();
  const root = await stage.start('buyer', 'Acme');
  await until(async () => (await root.query(waiting)).questions[0], 'the limit is asked for');
  await root.signal(answer, { id: 'negotiate-1/limit-1', value: -1 });
  await untilWaiting(root, ['negotiate-1/gated-1/start-1']);
  await root.signal(approve, { id: 'negotiate-1/gated-1/start-1' });
  await expect(root.result()).rejects.toMatchObject({ cause: { message: 'No terms.' } });
  const tally = stage.tally();
  expect(tally).toMatchObject({ 'looked up prices of Acme': 1, tried: 1 });
  const starts = Object.entries(tally).filter(([what]) => what.startsWith('negotiation'));
  // `retries: 1`: twice in all; what the two did is the same records.
  expect(starts.map(([, times]) => times)).toEqual([2]);
});
