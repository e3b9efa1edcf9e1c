/** A run and all that is below it share what they may spend. */
import { expect, test } from '@jest/globals';
import { approve, message, reject, report, resume, usage } from '../../src/index.ts';
import {
  assertAllReplay,
  COST,
  failureOf,
  peak,
  plugin,
  script,
  start,
  waits,
  WORST,
} from '../kit/budgets.ts';
import { scene } from '../kit/scene.ts';
import { chainOf, client, eventsOf, until } from '../kit/temporal.ts';

test('four children at once share what is left, a breach asks, and raising it goes on', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const workers = ['a', 'b', 'c', 'd'].map((name) => ({ name, turns: 3 }));
  // 60 cents and a little more are spent before they start.
  const handle = await start(stage, 'boss', { first: 7, workers }, { usd: 0.96, onBreach: 'ask' });
  const asked = await waits(handle, 'budget-1');
  expect(peak(stage)).toBeLessThanOrEqual(0.96 + 1e-9);
  expect(asked).toMatchObject({
    prompt: expect.stringMatching(
      /^The budget does not suffice for turn gpt-4\.1 of agent boss.+ of \$0\.9600 are left/,
    ),
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
  expect(prompt).toMatch(/^The budget does not suffice for turn gpt-4\.1 of agent/);
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
  expect(asked.prompt).toMatch(/it may take 1 turn, and 0 turns of 1 turn are left \(1 turn spent\)/);
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
