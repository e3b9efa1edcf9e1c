/** A run spends no more than it may, and says so before it asks the provider. */
import { expect, test } from '@jest/globals';
import { approve, type Budget, reject, resume, usage, waiting } from '../../src/index.ts';
import {
  assertAllReplay,
  COST,
  failureOf,
  MOST,
  plugin,
  script,
  start,
  waits,
  WORST,
} from '../kit/budgets.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, unique, until } from '../kit/temporal.ts';

test('a turn that might cost more than is left is not sent, and the run fails with what stands in the way', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const handle = await start(stage, 'spender', { name: 'a', turns: 10 }, { usd: 0.5 });
  const cause = await failureOf(handle);
  expect(cause).toMatchObject({
    type: 'BudgetExceededError',
    message:
      'The budget does not suffice for turn gpt-4.1: it may take $0.1000, and $0.0200 of $0.5000 are left ($0.4800 spent).',
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
  // Until it has read what the other had, it answers nothing.
  await until(async () => await resumed.query(waiting).catch(() => false), 'its beginning');
  // It has as much again: one more turn.
  const asked = await waits(resumed, 'budget-2');
  expect((await resumed.query(waiting)).approvals).toEqual([asked]);
  expect(stage.provider.requests).toHaveLength(2);
  await resumed.signal(approve, { id: 'budget-2', arguments: { usd: 1 } });
  expect(await resumed.result()).toBe(3);
  await assertAllReplay(resumed);
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
  [{ dollars: 1 }, 'it has no "dollars", only usd'],
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
