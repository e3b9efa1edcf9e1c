/** Decisions of people: who is told what, what is changed, and what is kept of it. */
import { describe, expect, test } from '@jest/globals';
import { approve, decide, decisions, decisionsOf, reject, sendDecision, waiting } from '../../src/index.ts';
import { paying } from '../fixtures/people-agents.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, eventsOf, until } from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';

const ids = ['refund-1', 'refund-2', 'refund-3'];

test('three calls of one turn, decided in another order and in other ways: each decision reaches its own call', async () => {
  await using stage = await scene('people-agents');
  const worker = await stage.spawn();
  const handle = await stage.start('refunder', ['A', 'B', 'C']);
  const pending = await untilWaiting(handle, ids);
  expect(pending[0]).toMatchObject({
    input: { order: 'A', usd: 100 },
    argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    edit: { type: 'object', required: ['order', 'usd'] },
  });
  await worker.kill();
  await handle.signal(approve, { id: 'refund-3', argumentsHash: pending[2]!.argumentsHash! });
  await handle.signal(reject, { id: 'refund-1', reason: 'Too late.' });
  await handle.signal(approve, {
    id: 'refund-2',
    arguments: { order: 'B', usd: 40 },
    by: 'ann',
    note: '<b>less</b>',
  });
  await stage.spawn();
  expect(await handle.result()).toEqual([
    { error: expect.objectContaining({ name: 'ToolRejectedError', message: 'Too late.' }) },
    'refunded $40 for B',
    'refunded $100 for C',
  ]);
  expect(stage.tally()).toEqual({ 'refunded B 40': 1, 'refunded C 100': 1 });
  const taken = await decisionsOf(await client(), handle.workflowId);
  expect(taken).toMatchObject([
    { id: 'refund-1', name: 'refund', decision: 'rejected', reason: 'Too late.' },
    {
      id: 'refund-2',
      decision: 'approved',
      arguments: { order: 'B', usd: 40 },
      by: 'ann',
      note: '<b>less</b>',
    },
    { id: 'refund-3', decision: 'approved', argumentsHash: pending[2]!.argumentsHash },
  ]);
  // The identity of the client of these tests, as the server has it: what `by` says is another matter.
  const identities = new Set(taken.map(({ identity }) => identity));
  expect([...identities]).toEqual([(await client()).options.identity]);
  await assertReplays(await chainOf(handle));
});

test.each([
  ['before the question is seen', { step: 1, when: 'after' } as const],
  ['when it has just been seen', undefined],
])(
  'a worker killed %s, and again before the answer is heard: one id, one refund, no turn asked twice',
  async (_when, kill) => {
    await using stage = await scene('people-agents');
    const first = await stage.spawn(kill && { kill });
    const handle = await stage.start('paying', 'A');
    if (kill) await first.ended;
    else {
      await untilWaiting(handle, ['refund-1']);
      await first.kill();
    }
    const second = await stage.spawn();
    expect((await untilWaiting(handle, ['refund-1'])).map(({ id }) => id)).toEqual(['refund-1']);
    await second.kill();
    await handle.signal(approve, { id: 'refund-1' });
    await stage.spawn();
    expect(await handle.result()).toEqual(['What of A?', 'refunded $100 for A', 'Then refunded $100 for A.']);
    expect(stage.tally()['refunded A 100']).toBe(1);
    expect([stage.asked('What of A?'), stage.asked('Then refunded')]).toEqual([1, 1]);
    expect((await handle.query(decisions)).map(({ id }) => id)).toEqual(['refund-1']);
    await assertReplays(await chainOf(handle));
  },
);

test('a schedule starts an agent, which waits for an approval', async () => {
  await using stage = await scene('people-agents');
  await stage.spawn();
  const { schedule, workflow } = await client();
  const made = await schedule.create({
    scheduleId: stage.taskQueue,
    spec: { calendars: [{ dayOfMonth: 1, hour: 6 }] },
    action: {
      type: 'startWorkflow',
      workflowType: paying,
      args: ['S'],
      taskQueue: stage.taskQueue,
      workflowId: stage.taskQueue,
    },
  });
  await made.trigger();
  const started = await until(async () => (await made.describe()).info.recentActions[0], 'its run');
  const handle = workflow.getHandle(started.action.workflow.workflowId);
  await untilWaiting(handle, ['refund-1']);
  await handle.signal(approve, { id: 'refund-1' });
  expect(await handle.result()).toMatchObject({ 1: 'refunded $100 for S' });
  await made.delete();
});

test('changed arguments that do not fit, or that nobody may change, are refused, and so are those of another call', async () => {
  await using stage = await scene('people-agents');
  await stage.spawn();
  const handle = await stage.start('refunder', ['A']);
  await untilWaiting(handle, ['refund-1']);
  await handle.signal(approve, { id: 'refund-1', arguments: { order: 'A', usd: 'much' } });
  await handle.signal(approve, { id: 'refund-1', arguments: { order: 'A', usd: 5_000 } });
  await handle.signal(approve, { id: 'refund-1', argumentsHash: 'ab' });
  const refused = await until(async () => {
    const { refused: all } = await handle.query(waiting);
    return all.length === 3 && all.map(({ reason }) => reason);
  }, 'three refusals');
  expect(refused).toEqual([
    expect.stringMatching(/^the arguments for "refund-1" do not fit: .*usd/),
    expect.stringMatching(/^the arguments for "refund-1" do not fit: .*5000/),
    expect.stringMatching(/^"refund-1" is asked about other arguments, with the hash [0-9a-f]{64}$/),
  ]);
  await handle.signal(approve, { id: 'refund-1' });
  expect(await handle.result()).toEqual(['refunded $100 for A']);
});

describe('an update', () => {
  test('says whether the decision was taken, and why not', async () => {
    await using stage = await scene('people-agents');
    await stage.spawn();
    const handle = await stage.start('refunder', ['A', 'B']);
    await untilWaiting(handle, ['refund-1', 'refund-2']);
    const refusal = async (input: unknown) =>
      await sendDecision(handle, input as never).then(
        () => 'taken',
        ({ name, code, message }: { name: string; code: string; message: string }) => [name, code, message],
      );
    const both = 'what waits: refund-1, refund-2';
    expect(await refusal(undefined)).toEqual([
      'DecisionRefusedError',
      'malformed',
      `it has no "id"; ${both}`,
    ]);
    expect(await refusal({ id: 'refund-1' })).toEqual([
      'DecisionRefusedError',
      'malformed',
      `its "decision" is missing: neither "approve" nor "reject" nor "answer"; ${both}`,
    ]);
    expect(await refusal({ id: 'refund-9', decision: 'approve' })).toEqual([
      'DecisionRefusedError',
      'unknown-id',
      `nothing here has the id "refund-9"; ${both}`,
    ]);
    expect(await refusal({ id: 'refund-1', decision: 'approve', arguments: {} })).toMatchObject({
      1: 'does-not-fit',
    });
    // Two at once: one is taken, and the other is told by whom.
    const [one, other] = await Promise.all([
      refusal({ id: 'refund-1', decision: 'approve', by: 'ann' }),
      refusal({ id: 'refund-1', decision: 'reject', by: 'bob' }),
    ]);
    const told = [one, other].find((each) => each !== 'taken');
    expect([one, other]).toContain('taken');
    expect(told).toEqual([
      'DecisionRefusedError',
      'already-decided',
      expect.stringMatching(/^"refund-1" was already (approved by ann|rejected by bob) at \d/),
    ]);
    expect(await sendDecision(handle, { id: 'refund-2', decision: 'approve' })).toEqual({
      id: 'refund-2',
      workflowId: handle.workflowId,
    });
    await handle.result();
    expect(await refusal({ id: 'refund-2', decision: 'approve' })).toMatchObject({ 1: 'run-over' });
    // What was refused at the door is in no history; of the two at once, both were let in.
    const [history] = await chainOf(handle);
    expect(eventsOf([history!], 'workflowExecutionUpdateAccepted')).toHaveLength(3);
    expect(stage.tally()['refunded B 100']).toBe(1);
    expect((await decisionsOf(await client(), handle.workflowId))[1]).toMatchObject({
      identity: (await client()).options.identity,
    });
    await assertReplays([history!]);
  });

  test('and many of them at once, while the run goes on, replay', async () => {
    await using stage = await scene('people-agents');
    await stage.spawn();
    const orders = Array.from({ length: 9 }, (_, i) => `O${i}`);
    const handle = await stage.start('refunder', orders);
    await untilWaiting(handle, ['refund-9']);
    const all = orders.map(
      async (_, i) =>
        await handle.executeUpdate(decide, { args: [{ id: `refund-${i + 1}`, decision: 'approve' }] }),
    );
    const receipts = await Promise.all(all);
    expect(receipts.map(({ id }) => id)).toEqual(orders.map((_, i) => `refund-${i + 1}`));
    expect(await handle.result()).toEqual(orders.map((order) => `refunded $100 for ${order}`));
    await assertReplays(await chainOf(handle));
  });
});

describe('an agent that must be approved', () => {
  test('begins nothing before, and is started with what a person made of its input', async () => {
    await using stage = await scene('people-agents');
    const worker = await stage.spawn();
    const handle = await stage.start('gated', { topic: 'cats' });
    expect(await untilWaiting(handle, ['start-1'])).toMatchObject([
      { name: 'start', prompt: 'Write about cats?', input: { topic: 'cats' } },
    ]);
    expect(stage.tally()).toEqual({});
    await worker.kill();
    // This fits the JSON Schema, but not what the schema says beyond: it is asked for again.
    await handle.signal(approve, { id: 'start-1', arguments: { topic: 'war' } });
    await stage.spawn();
    const [again] = await untilWaiting(handle, ['start-2']);
    expect(again!.prompt).toMatch(
      /^Write about cats\?\n\nThe input given before did not fit: .*not about war/,
    );
    await handle.signal(approve, { id: 'start-2', arguments: { topic: 'dogs' } });
    expect(await handle.result()).toBe('about dogs');
    expect(stage.tally()).toEqual({ 'writes about dogs': 1 });
  });

  test('fails by name when it is refused', async () => {
    await using stage = await scene('people-agents');
    await stage.spawn();
    const handle = await stage.start('gated', { topic: 'cats' });
    await untilWaiting(handle, ['start-1']);
    await handle.signal(reject, { id: 'start-1', reason: 'Not now.' });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'AgentRejectedError', message: 'Not now.' },
    });
    expect(stage.tally()).toEqual({});
    expect(await handle.query(decisions)).toMatchObject([
      { id: 'start-1', decision: 'rejected', reason: 'Not now.' },
    ]);
  });
});
