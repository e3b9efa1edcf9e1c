/** What a run may spend holds when it is cancelled, reset or redeployed, and when somebody says what is not so. */
import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { approve, report, usage } from '../../src/index.ts';
import { GRANT_SIGNAL, NESTED_SIGNAL } from '../../src/protocol/names.ts';
import { assertAllReplay, COST, failureOf, plugin, script, start, waits } from '../kit/budgets.ts';
import { scene } from '../kit/scene.ts';
import { chainOf, client, eventsOf, unique, until } from '../kit/temporal.ts';

const four = ['a', 'b', 'c', 'd'].map((name) => ({ name, turns: 3 }));

async function childrenOf(handle: WorkflowHandle): Promise<WorkflowHandle[]> {
  const { workflow } = await client();
  const { inFlight } = await handle.query(report);
  return inFlight.flatMap(({ child }) => (child === undefined ? [] : workflow.getHandle(child)));
}

test.each(['ask', 'fail'] as const)(
  'a run that is cancelled while its children wait for room ends (%s)',
  async (onBreach) => {
    await using stage = await scene('budget-agents', { script, plugin });
    await stage.spawn();
    const handle = await start(stage, 'boss', { first: 0, workers: four }, { usd: 0.6, onBreach });
    await until(() => stage.provider.requests.length >= 4, 'the children');
    if (onBreach === 'ask') await waits(handle, 'budget-1');
    const children = await childrenOf(handle);
    await handle.cancel();
    await handle.result().catch(() => {});
    for (const child of children) await child.result().catch(() => {});
    const causes = eventsOf(await chainOf(handle), 'workflowTaskFailed').map(
      ({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes!.failure?.message,
    );
    expect(causes.filter((why) => why !== 'UnhandledCommand')).toEqual([]);
    await assertAllReplay(handle);
  },
);

test('a parent that was reset goes on with children that had grants which it does not know', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const handle = await start(stage, 'boss', { first: 2, workers: four }, { usd: 0.7, onBreach: 'ask' });
  await waits(handle, 'budget-1');
  const ends = eventsOf([await handle.fetchHistory()], 'workflowTaskCompleted');
  const { workflow, workflowService } = await client();
  const { runId } = await handle.describe();
  const reset = await workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: handle.workflowId, runId },
    reason: 'a test',
    requestId: unique('reset'),
    workflowTaskFinishEventId: ends[Math.floor(ends.length * 0.55)]!.eventId!,
  });
  const again = workflow.getHandle(handle.workflowId, reset.runId);
  let over = false;
  const ended = again.result().finally(() => (over = true));
  const approved = new Set<string>();
  await until(async () => {
    const { approvals } = (await again.query(report).catch(() => undefined))?.waiting ?? { approvals: [] };
    for (const { id } of approvals) {
      if (!approved.has(id)) await again.signal(approve, { id }).catch(() => {});
      approved.add(id);
    }
    return over;
  }, 'its end');
  expect(await ended).toEqual([3, 3, 3, 3]);
});

test('a limit of time that a deploy took away is none for the children either', async () => {
  await using stage = await scene('budget-agents', { script, plugin });
  const first = await stage.spawn({ env: { TEAM_BUDGET: JSON.stringify({ wallTime: 1, onBreach: 'ask' }) } });
  const handle = await start(stage, 'team', ['a', 'b']);
  await waits(handle, 'budget-1');
  await first.kill();
  await stage.spawn();
  expect(await handle.result()).toEqual([3, 3]);
  const signals = eventsOf(await chainOf(handle), 'workflowExecutionSignaled');
  expect(signals.length).toBeLessThan(20);
  await assertAllReplay(handle);
});

test.each([
  { grants: 1_000 },
  { grants: Number.MAX_SAFE_INTEGER },
  { grants: -1 },
  { grants: 'x' },
  { wants: { usd: 1e300 } },
])('what is not so is no reason to wait for ever: %j', async (forged) => {
  await using stage = await scene('budget-agents', { script, plugin });
  await stage.spawn();
  const workers = [{ name: 'a', turns: 8 }];
  const handle = await start(stage, 'boss', { first: 1, workers }, { usd: 20 * COST });
  const [child] = await until(async () => {
    const children = await childrenOf(handle);
    return children.length > 0 && children;
  }, 'the child');
  const allowance = { grants: 0, returned: {}, settled: {}, ...forged };
  await handle.signal(NESTED_SIGNAL, {
    child: child!.workflowId,
    approvals: [],
    questions: [],
    outcomes: [],
    allowance,
  });
  await child!.signal(GRANT_SIGNAL, { granted: {}, until: 0, ...forged });
  // Whatever it says, one that was refused for want of room says so.
  const cause = await failureOf(handle);
  expect(cause?.type ?? (await handle.result())).toEqual(expect.anything());
  expect((await handle.query(usage)).budget!.spent.usd).toBeLessThanOrEqual(20 * COST + 1e-9);
  await assertAllReplay(handle);
});
