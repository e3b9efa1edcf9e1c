/** Agents that start agents: child workflows with validated borders. */
import { expect, test } from '@jest/globals';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, eventsOf, repeatedSteps, until } from '../kit/temporal.ts';

const topics = (id: string) => ['one', 'two', 'three', 'four', 'five'].map((topic) => `${topic}-${id}`);

/** Child runs of a parent, by topic, and the worker that runs their model turn now. */
async function hosts(parent: string): Promise<Map<string, number>> {
  const { workflow } = await client();
  const found = new Map<string, number>();
  for await (const { workflowId } of workflow.list({ query: `WorkflowId STARTS_WITH "${parent}/"` })) {
    const { raw } = await workflow.getHandle(workflowId).describe();
    const turn = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'agents.turn');
    const pid = Number.parseInt(turn?.lastWorkerIdentity ?? '', 10);
    if (pid) found.set(workflowId, pid);
  }
  return found;
}

test('five researchers on two workers: those whose host is killed resume, the others are untouched, each counts once', async () => {
  await using stage = await scene('fan-out-agents');
  const workers = [await stage.spawn(), await stage.spawn()];
  const handle = await stage.start('planner', topics('fan'));
  const placed = await until(async () => {
    const now = await hosts(handle.workflowId);
    return now.size === 5 && new Set(now.values()).size === 2 && now;
  }, 'five researchers on two workers');
  const victim = workers.find(({ pid }) => pid === [...placed.values()][0])!;
  await victim.kill();
  await stage.spawn();
  expect(await handle.result()).toMatch(
    /^synthesize one-fan=\d+ two-fan=\d+ three-fan=\d+ four-fan=\d+ five-fan=\d+$/,
  );
  const killed = [...placed.values()].filter((pid) => pid === victim.pid).length;
  // Only what was with the provider at the kill is asked again.
  const asked = stage.provider.requests.length;
  expect(asked).toBeGreaterThan(12);
  expect(asked).toBeLessThanOrEqual(12 + killed);
  const tally = stage.tally();
  for (const topic of topics('fan')) expect(tally[`search ${topic}`]).toBe(1);
  expect(Object.values(tally).reduce((sum, n) => sum + n, 0)).toBe(
    5 + 5 + killed + (tally['findings 5'] ?? 0),
  );
  const parent = await chainOf(handle);
  expect(eventsOf(parent, 'childWorkflowExecutionCompleted')).toHaveLength(5);
  expect(repeatedSteps(parent)).toEqual([]);
  await assertReplays(parent);
});

test('cancel of the parent reaches every child', async () => {
  await using stage = await scene('fan-out-agents', {
    // None is answered before the cancel comes.
    script: ({ messages }) => {
      const { text } = messages.at(-1)!;
      return text.startsWith('read about') ? { hang: true } : { text };
    },
  });
  await stage.spawn();
  const handle = await stage.start('planner', topics('cancel'));
  await until(() => stage.asked('read about') === 5, 'five turns under way');
  await handle.cancel();
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  const { workflow } = await client();
  const states: string[] = [];
  for await (const child of workflow.list({ query: `WorkflowId STARTS_WITH "${handle.workflowId}/"` })) {
    const { status } = await until(async () => {
      const now = await workflow.getHandle(child.workflowId).describe();
      return now.status.name !== 'RUNNING' && now;
    }, 'the end of a child');
    states.push(status.name);
  }
  expect(states).toEqual(Array(5).fill('CANCELLED'));
  for (const request of stage.provider.requests.filter(({ body }) =>
    JSON.stringify(body).includes('read about'),
  )) {
    expect(
      await stage.provider.waitFor(
        ({ at, key, closedEarlyAt }) =>
          at === request.at && key === request.key && closedEarlyAt !== undefined,
      ),
    ).toBe(request);
  }
});

test('an input that does not fit the child is refused before the child starts', async () => {
  await using stage = await scene('fan-out-agents');
  await stage.spawn();
  const handle = await stage.start('planner', ['fits', '']);
  await expect(handle.result()).rejects.toMatchObject({
    cause: { type: 'AgentInputError', message: expect.stringContaining('topic') },
  });
  const direct = await stage.start('researcher', { topic: 7 });
  await expect(direct.result()).rejects.toMatchObject({ cause: { type: 'AgentInputError' } });
  expect(stage.asked('read about 7')).toBe(0);
});
