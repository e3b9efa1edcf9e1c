/** A run spends no more than it may, with all that is below it, and says so before it asks the provider. */
import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { approve, type Budget, message, reject, report, resume, usage, waiting } from '../../src/index.ts';
import type { ProviderScript } from '../../src/testing/index.ts';
import { type Scene, scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, eventsOf, unique, until } from '../kit/temporal.ts';
import { QUICK_START } from '../kit/workers.ts';

/** A cent a token out, nothing in: a turn may cost 10 cents and costs 8. */
const plugin = { prices: { 'gpt-4.1': { input: 0, output: 10_000 } } };
const MOST = { maxOutputTokens: 10 };
const WORST = 0.1;
const COST = 0.08;
const script: ProviderScript = () => ({
  text: 'ok',
  usage: { inputTokens: 5, outputTokens: 8 },
  delayMs: 60,
});

async function start(stage: Scene, agent: string, input: unknown, budget?: Budget): Promise<WorkflowHandle> {
  const { taskQueue } = stage;
  const memo = budget && { budget: { ...MOST, ...budget } };
  return await (
    await client()
  ).workflow.start(agent, {
    taskQueue,
    workflowId: unique(agent),
    args: [input],
    ...(memo && { memo }),
    ...QUICK_START,
  });
}

const failureOf = async (handle: WorkflowHandle) =>
  await handle.result().then(
    () => undefined,
    ({ cause }: { cause: { type: string; message: string } }) => cause,
  );

/** The most that was ever spent or under way, each turn under way taken at its worst. */
function peak({ provider }: Scene): number {
  const changes = provider.requests.flatMap(({ at, answeredAt }) => [
    { at, by: WORST },
    { at: answeredAt ?? Infinity, by: COST - WORST },
  ]);
  let [now, most] = [0, 0];
  for (const { by } of changes.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** This run and those below it replay. */
async function assertAllReplay(handle: WorkflowHandle): Promise<void> {
  await assertReplays(await chainOf(handle));
  const { steps } = await handle.query(report);
  const { workflow } = await client();
  for (const { child } of steps) if (child !== undefined) await assertAllReplay(workflow.getHandle(child));
}

const waits = (handle: WorkflowHandle, id: string) =>
  until(async () => (await handle.query(waiting)).approvals.find((one) => one.id === id), id);

test('a turn that might cost more than is left is not sent, and the run fails with what stands in the way', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const handle = await start(stage, 'spender', { name: 'a', turns: 10 }, { usd: 0.5 });
  const cause = await failureOf(handle);
  expect(cause).toMatchObject({
    type: 'BudgetExceededError',
    message:
      'The budget does not suffice for turn gpt-4.1: it may take more than the $0.0200 left of $0.5000 ($0.4800 spent, $0.0000 held).',
  });
  expect(stage.provider.requests).toHaveLength(6);
  expect((await handle.query(usage)).budget).toEqual({
    limits: { usd: 0.5, ...MOST },
    spent: { usd: expect.closeTo(0.48, 9), tokens: 6 * 13, turns: 6 },
    reserved: { usd: 0, tokens: 0, turns: 0 },
    left: { usd: expect.closeTo(0.02, 9) },
  });
  await assertAllReplay(handle);
});

test.each<[keyof Budget, Budget, number]>([
  ['turns', { turns: 3 }, 3],
  // 13 each, and the next may take its prompt's bytes by two, and 10.
  ['tokens', { tokens: 60 }, 3],
  ['wallTime', { wallTime: 1 }, 1],
])('%s are limited too, and an agent may do without', async (code, budget, turns) => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const handle = await start(stage, 'frugal', 10, budget);
  expect(await handle.result()).toBe(turns);
  expect(Object.keys(stage.tally())).toEqual([`BudgetExceededError ${code}`]);
  expect(stage.provider.requests).toHaveLength(turns);
});

test('a price that nobody knows counts as over budget, unless it may', async () => {
  await using stage = await scene('budget-agents', {
    script,
    plugin: { prices: {} },
    env: { MODEL: 'secret-1' },
  });
  await stage.spawn();
  const refused = await start(stage, 'spender', { name: 'a', turns: 1 }, { usd: 1 });
  expect(await failureOf(refused)).toMatchObject({
    type: 'BudgetExceededError',
    message: expect.stringMatching(/^The budget does not suffice for turn secret-1: nobody knows its price/),
  });
  expect(stage.provider.requests).toHaveLength(0);
  const allowed = await start(stage, 'spender', { name: 'b', turns: 1 }, { usd: 1, unknownPrice: 'allow' });
  expect(await allowed.result()).toBe(1);
  const asked = await start(stage, 'spender', { name: 'c', turns: 1 }, { usd: 1, onBreach: 'ask' });
  await waits(asked, 'budget-1');
  await asked.signal(approve, { id: 'budget-1' });
  expect(await asked.result()).toBe(1);
});

test('four children at once share what is left, a breach asks, and raising it goes on', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const workers = ['a', 'b', 'c', 'd'].map((name) => ({ name, turns: 3 }));
  // 60 cents and a little more are spent before they start.
  const handle = await start(stage, 'boss', { first: 7, workers }, { usd: 0.96, onBreach: 'ask' });
  const asked = await waits(handle, 'budget-1');
  expect(peak(stage)).toBeLessThanOrEqual(0.96 + 1e-9);
  expect(asked).toMatchObject({
    prompt: expect.stringMatching(/^The budget does not suffice for agent .+ left of \$0\.9600/),
    input: { usd: 0.96 },
  });
  const held = (await handle.query(usage)).budget!;
  expect(held.spent.usd + held.reserved.usd).toBeLessThanOrEqual(0.96 + 1e-9);
  await handle.signal(approve, { id: 'budget-1', arguments: { usd: 1 } });
  expect(await handle.result()).toEqual([3, 3, 3, 3]);
  expect(stage.provider.requests).toHaveLength(7 + 12);
  // Each child reports as it ends, and once for each time that it is granted more; the person is one more.
  const histories = await chainOf(handle);
  const grants = eventsOf(histories, 'signalExternalWorkflowExecutionInitiated').length;
  expect(eventsOf(histories, 'workflowExecutionSignaled')).toHaveLength(4 + grants + 1);
  const { own, children, budget } = await handle.query(usage);
  expect([own.turns, children.turns]).toEqual([7, 12]);
  expect(budget).toMatchObject({
    limits: { usd: 1.96 },
    spent: { usd: expect.closeTo(19 * COST, 9), turns: 19 },
    reserved: { usd: expect.closeTo(0, 9) },
  });
  await assertAllReplay(handle);
});

test('refusing to raise it ends all', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const workers = ['a', 'b', 'c', 'd'].map((name) => ({ name, turns: 3 }));
  const handle = await start(stage, 'boss', { first: 7, workers }, { usd: 0.96, onBreach: 'ask' });
  await waits(handle, 'budget-1');
  const before = stage.provider.requests.length;
  await handle.signal(reject, { id: 'budget-1', reason: 'Too dear.' });
  expect(await handle.result()).toEqual(Array<string>(4).fill('BudgetExceededError'));
  expect(stage.provider.requests).toHaveLength(before);
  expect(peak(stage)).toBeLessThanOrEqual(0.96 + 1e-9);
  await assertAllReplay(handle);
});

test('a worker that dies under them changes nothing of that', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  const first = await stage.spawn({ kill: { step: 9, when: 'before' } });
  const workers = ['a', 'b', 'c', 'd'].map((name) => ({ name, turns: 3 }));
  const handle = await start(stage, 'boss', { first: 6, workers }, { usd: 2, onBreach: 'ask' });
  await first.ended;
  await stage.spawn();
  expect(await handle.result()).toEqual([3, 3, 3, 3]);
  const { budget } = await handle.query(usage);
  // What was under way when it died may have been paid.
  const { length: asked } = stage.provider.requests;
  expect(budget!.spent.turns).toBeGreaterThanOrEqual(asked);
  expect(budget!.spent.usd).toBeGreaterThanOrEqual(asked * COST - 1e-9);
  expect(budget!.spent.usd + budget!.reserved.usd).toBeLessThanOrEqual(2);
  await assertAllReplay(handle);
});

test('children of children draw on the same budget, and one breach is asked about at the root', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const team = (name: string) => ({
    first: 1,
    workers: [1, 2].map((n) => ({ name: `${name}${n}`, turns: 2 })),
  });
  const handle = await start(stage, 'chief', [team('x'), team('y')], { usd: 0.6, onBreach: 'ask' });
  const { prompt, workflowId } = await waits(handle, 'budget-1');
  expect(prompt).toMatch(/^The budget does not suffice for agent chief/);
  expect(workflowId).toBeUndefined();
  expect(peak(stage)).toBeLessThanOrEqual(0.6 + 1e-9);
  await handle.signal(approve, { id: 'budget-1' });
  expect(await handle.result()).toEqual([
    [2, 2],
    [2, 2],
  ]);
  expect(stage.provider.requests).toHaveLength(10);
  expect(peak(stage)).toBeLessThanOrEqual(1.2 + 1e-9);
});

test("an agent's own budget limits it within the other's, and is raised at the root", async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const workers = [{ name: 'm', turns: 2 }];
  const handle = await start(stage, 'boss', { first: 1, workers, of: 'modest' }, { usd: 5 });
  const asked = await waits(handle, 'modest-1/budget-1');
  expect(asked).toMatchObject({ audience: 'finance', input: { turns: 1 } });
  expect(asked.prompt).toMatch(/more than the 0 turns left of 1 turns/);
  await handle.signal(approve, { id: 'modest-1/budget-1' });
  expect(await handle.result()).toEqual([2]);
});

test('a child that waits for a person gives back what it does not need', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  // One turn of the one and eight of the other are all that there is: nothing may lie idle with who only waits.
  const handle = await start(stage, 'lead', ['patient', 'busy'], { usd: 9 * COST + WORST - COST });
  await until(() => stage.asked('busy turn 8') === 1, 'the last turn');
  const { inFlight } = await until(async () => {
    const page = await handle.query(report);
    return page.inFlight.length === 1 && page;
  }, 'one is done');
  const patient = (await client()).workflow.getHandle(inFlight[0]!.child!);
  await patient.signal(message, { text: 'go on' });
  expect(await failureOf(handle)).toMatchObject({ type: 'BudgetExceededError' });
  expect(stage.provider.requests).toHaveLength(9);
});

test('children, and theirs, have the time that is left, and go on when somebody gives them more', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const workers = ['a', 'b'].map((name) => ({ name, turns: 3 }));
  const handle = await start(stage, 'chief', [{ first: 0, workers }], { wallTime: 1, onBreach: 'ask' });
  const { input } = await waits(handle, 'budget-1');
  expect(input).toEqual({ wallTime: 1 });
  // Whoever starts when it is over does not begin.
  expect(stage.provider.requests).toHaveLength(0);
  await handle.signal(approve, { id: 'budget-1', arguments: { wallTime: '10 minutes' } });
  expect(await handle.result()).toEqual([[3, 3]]);
  await assertAllReplay(handle);
});

test('a budget goes over to the next run of the chain, with what was raised', async () => {
  await using stage = await scene('budget-agents', {
    script,
    plugin: { ...plugin, continueAfterRecords: 2 },
  });
  await stage.spawn();
  const handle = await start(stage, 'spender', { name: 'a', turns: 8 }, { usd: 0.3, onBreach: 'ask' });
  await waits(handle, 'budget-1');
  expect(stage.provider.requests).toHaveLength(3);
  await handle.signal(approve, { id: 'budget-1' });
  await waits(handle, 'budget-2');
  expect(stage.provider.requests).toHaveLength(7);
  await handle.signal(reject, { id: 'budget-2' });
  expect(await failureOf(handle)).toMatchObject({ type: 'BudgetExceededError' });
  expect((await chainOf(handle)).length).toBeGreaterThan(2);
  await assertReplays(await chainOf(handle));
  // Who resumes it has another such budget, for what is left to be done.
  const resumed = await resume(await client(), handle.workflowId);
  expect(await resumed.result()).toBe(8);
  expect(stage.provider.requests).toHaveLength(8);
});

test('a run that is cancelled while it asks waits for nobody; who resumes it is asked anew', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const handle = await start(stage, 'tidy', 3, { usd: WORST, onBreach: 'ask' });
  await waits(handle, 'budget-1');
  await handle.cancel();
  expect(await handle.result().catch(({ cause }: { cause: Error }) => cause.name)).toBe('CancelledFailure');
  expect(Object.keys(stage.tally())).toEqual(['BudgetExceededError tidying']);
  expect(await handle.query(waiting)).toMatchObject({ approvals: [] });
  const resumed = await resume(await client(), handle.workflowId);
  // It has as much again: one more turn.
  const asked = await waits(resumed, 'budget-2');
  expect((await resumed.query(waiting)).approvals).toEqual([asked]);
  expect(stage.provider.requests).toHaveLength(2);
  await resumed.signal(approve, { id: 'budget-2', arguments: { usd: 1 } });
  expect(await resumed.result()).toBe(3);
  await assertAllReplay(resumed);
});

test('a child that is resumed by itself is under no budget but its own', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const handle = await start(stage, 'boss', { first: 0, workers: [{ name: 'a', turns: 3 }] }, { usd: 0.2 });
  expect(await handle.result()).toEqual(['BudgetExceededError']);
  const [step] = (await handle.query(report)).steps;
  const resumed = await resume(await client(), step!.child!);
  expect(await resumed.result()).toBe(3);
  expect(stage.provider.requests).toHaveLength(3);
});

test('a budget is raised by what can be meant, and by nothing else', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const handle = await start(stage, 'spender', { name: 'a', turns: 2 }, { wallTime: 1, onBreach: 'ask' });
  await waits(handle, 'budget-1');
  for (const change of [{ wallTime: 1e300 }, { wallTime: 'soon' }, { usd: -1 }, { usd: 1e300 }, {}])
    await handle.signal(approve, { id: 'budget-1', arguments: change });
  await until(async () => (await handle.query(waiting)).refused.length === 5, 'five refusals');
  await handle.signal(approve, { id: 'budget-1', arguments: { wallTime: `${'9'.repeat(30)} days` } });
  expect(await handle.result()).toBe(2);
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toMatch(/Budget: until 21\d\d-/);
});

test('changed code that asks another turn after a kill is not held up by what the lost one may have cost', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  const first = await stage.spawn({ kill: { step: 2, when: 'before' } });
  const handle = await start(stage, 'spender', { name: 'a', turns: 3 }, { usd: 0.3 });
  await first.ended;
  await stage.spawn({ env: { PREFIX: 'second ' } });
  // The lost attempt, a turn of each version, and what is left is too little.
  expect(await failureOf(handle)).toMatchObject({ type: 'BudgetExceededError' });
  expect((await handle.query(usage)).budget).toMatchObject({
    spent: { usd: expect.closeTo(2 * COST, 9) },
    reserved: { usd: expect.closeTo(WORST, 9) },
  });
});

test.each<[unknown, string]>([
  ['much', 'give an object such as { usd: 1 }'],
  [{ usd: -1 }, '"usd" must be a number from 0 to'],
  [{ dollars: 1 }, '"dollars" is none of its fields'],
  [{ wallTime: 'soon' }, '"wallTime" must be a duration'],
  [{ onBreach: 'stop' }, '"onBreach" must be "fail" or "ask"'],
])('a memo %j is no budget, which ends the run and says why', async (budget, why) => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const handle = await (
    await client()
  ).workflow.start('spender', {
    taskQueue: stage.taskQueue,
    workflowId: unique('bad'),
    args: [{ name: 'a', turns: 1 }],
    memo: { budget },
  });
  expect(await failureOf(handle)).toMatchObject({
    type: 'DeclarationError',
    message: expect.stringContaining(why),
  });
});
