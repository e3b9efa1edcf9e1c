import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { approve, reject, waiting, type Waiting } from '../../src/index.ts';
import { findServerBinary } from '../../src/servers/index.ts';
import { digest } from '../../src/loop/fingerprint.ts';
import { scene } from '../kit/scene.ts';
import { address, chainOf, client, eventsOf, until } from '../kit/temporal.ts';
import { sightings, untilWaiting } from '../kit/waiting-runs.ts';
import { QUICK_START } from '../kit/workers.ts';

const rejection = (message: string) => ({
  error: { class: 'ToolRejectedError', name: 'ToolRejectedError', message },
});

/** Types of the activities that a run has scheduled. */
async function scheduled(handle: WorkflowHandle): Promise<(string | null | undefined)[]> {
  const events = eventsOf(await chainOf(handle), 'activityTaskScheduled');
  return events.map((event) => event.activityTaskScheduledEventAttributes!.activityType!.name);
}

/** What the Temporal UI shows of a run. */
async function currentDetails(handle: WorkflowHandle): Promise<string> {
  const { currentDetails: details } = await handle.query<{ currentDetails: string }>(
    '__temporal_workflow_metadata',
  );
  return details;
}

/** The payloads that the details of a run have ready to copy. */
async function payloads(handle: WorkflowHandle): Promise<unknown[]> {
  const blocks = (await currentDetails(handle)).matchAll(/```json\n(.*)\n```/g);
  return [...blocks].map(([, json]) => JSON.parse(json!) as unknown);
}

test('a tool that needs approval is not scheduled before it, and runs once after it', async () => {
  await using stage = await scene('approval-agents');
  await stage.spawn();
  const handle = await stage.start('cleaner');
  const [pending] = await untilWaiting(handle, ['wipe-1']);
  expect(pending).toEqual({
    id: 'wipe-1',
    name: 'wipe',
    prompt: 'Run wipe?',
    argumentsHash: digest({}),
    input: {},
    askedAt: expect.any(Number),
  });
  expect(await scheduled(handle)).not.toContain('wipe');
  expect(stage.tally()).toEqual({});
  await handle.signal(approve, { id: 'wipe-1', by: 'an operator' });
  expect(await handle.result()).toBe('wiped');
  expect((await scheduled(handle)).filter((type) => type === 'wipe')).toHaveLength(1);
  expect(stage.tally()).toEqual({ wiped: 1 });
});

test.each([
  ['a kill', {}],
  ['a kill and continue-as-new', { continueAfterRecords: 1 }],
])('parallel approvals keep their ids over %s, and reach their own calls in any order', async (_, plugin) => {
  await using stage = await scene('approval-agents', { plugin });
  const first = await stage.spawn();
  const handle = await stage.start('bank', ['ann', 'bob', 'cid', 'dan']);
  const ids = ['transfer-1', 'transfer-2', 'transfer-3', 'transfer-4'];
  const before = await untilWaiting(handle, ids);
  expect(before.map(({ id, input }) => [id, input])).toEqual([
    ['transfer-1', { to: 'ann', amount: 1 }],
    ['transfer-2', { to: 'bob', amount: 2 }],
    ['transfer-3', { to: 'cid', amount: 3 }],
    ['transfer-4', { to: 'dan', amount: 4 }],
  ]);
  expect(before.map(({ prompt }) => prompt)[3]).toBe('Send $4 to <b>dan</b>?\n# `now`');
  await first.kill();
  const second = await stage.spawn();
  await handle.signal(approve, { id: 'transfer-4' });
  await until(() => stage.tally()['sent to dan'], 'the last of them runs while the others wait');
  const histories = async () => await chainOf(handle);
  if ('continueAfterRecords' in plugin)
    await until(async () => (await histories()).length > 1, 'it goes on as new');
  const still = await untilWaiting(handle, ids.slice(0, 3));
  expect(still).toEqual(before.slice(0, 3).map((pending) => ({ ...pending, askedAt: expect.any(Number) })));
  await handle.signal(reject, { id: 'transfer-3', reason: 'Cid has moved.' });
  await handle.signal(reject, { id: 'transfer-2' });
  await handle.signal(approve, { id: 'transfer-1' });
  const results = [
    'sent to ann',
    rejection('transfer was not approved.'),
    rejection('Cid has moved.'),
    'sent to dan',
  ];
  expect(await handle.result()).toEqual(results);
  expect(sightings(stage.log, 'results')).toEqual([{ pid: second.pid, saw: results }]);
  expect(Object.entries(stage.tally()).filter(([what]) => what.startsWith('sent'))).toEqual([
    ['sent to dan', 1],
    ['sent to ann', 1],
  ]);
  expect((await scheduled(handle)).filter((type) => type === 'transfer')).toHaveLength(2);
  const continued = eventsOf(await histories(), 'workflowExecutionContinuedAsNew');
  expect(continued.length > 0).toBe('continueAfterRecords' in plugin);
});

test('the details of a run show what waits, with the payload ready to copy, and no longer what was decided', async () => {
  await using stage = await scene('approval-agents');
  await stage.spawn();
  const handle = await stage.start('bank', ['ann', 'bob']);
  await untilWaiting(handle, ['transfer-1', 'transfer-2']);
  expect(await payloads(handle)).toEqual([{ id: 'transfer-1' }, { id: 'transfer-2' }]);
  const details = await currentDetails(handle);
  expect(details).toContain('`transfer-1`');
  // The text is a model's: it shows as it is, and is no markup.
  expect(details).not.toMatch(/<b>|^# /m);
  const [, second] = await payloads(handle);
  await handle.signal('approve', second);
  await until(async () => (await payloads(handle)).length === 1, 'one decided');
  expect(await payloads(handle)).toEqual([{ id: 'transfer-1' }]);
  await handle.signal('reject', { id: 'transfer-1' });
  await handle.result();
  expect(await payloads(handle)).toEqual([]);
});

test("Temporal's command line approves and rejects", async () => {
  await using stage = await scene('approval-agents');
  await stage.spawn();
  const handle = await stage.start('bank', ['ann', 'bob']);
  await untilWaiting(handle, ['transfer-1', 'transfer-2']);
  const temporal = await findServerBinary('dev');
  const signal = async (name: string, input: unknown) => {
    const args = [
      '--address',
      address(),
      '--workflow-id',
      handle.workflowId,
      '--name',
      name,
      '--input',
      JSON.stringify(input),
    ];
    await promisify(execFile)(temporal, ['workflow', 'signal', ...args]);
  };
  await signal('reject', { id: 'transfer-1', reason: 'Not today.' });
  await signal('approve', 'transfer-2');
  await signal('approve', { id: 'transfer-2' });
  expect(await handle.result()).toEqual([rejection('Not today.'), 'sent to bob']);
  expect((await handle.query(waiting)).refused.map(({ reason }) => reason)).toEqual([
    'it has no "id"; what waits: transfer-2',
  ]);
});

describe('a signal that cannot be accepted', () => {
  const refusals = ({ refused }: Waiting) => refused.map(({ signal, reason }) => [signal, reason]);

  test('is refused and listed with its reason, whatever it holds, and the run goes on', async () => {
    await using stage = await scene('approval-agents');
    const { taskQueue } = stage;
    const worker = await stage.spawn();
    const { workflow } = await client();
    // Too early: the run has not even asked.
    await workflow.signalWithStart('bank', {
      taskQueue,
      workflowId: taskQueue,
      args: [['ann', 'bob']],
      signal: approve,
      signalArgs: [{ id: 'transfer-1' }],
      ...QUICK_START,
    });
    const handle = workflow.getHandle(taskQueue);
    await untilWaiting(handle, ['transfer-1', 'transfer-2']);
    const malformed = [
      undefined,
      null,
      true,
      42,
      'transfer-1',
      [],
      ['transfer-1'],
      {},
      { id: null },
      { id: 7 },
      { ID: 'transfer-1' },
    ];
    for (const payload of malformed) await handle.signal('approve', payload);
    await handle.signal('reject');
    await handle.signal('approve', { id: 'transfer-9' });
    await handle.signal('approve', { id: 'x'.repeat(1_000_000) });
    await handle.signal('aprove', { id: 'transfer-1' });
    await handle.signal('reject', { id: 'transfer-1', reason: { not: 'text' }, by: 5 });
    await handle.signal('approve', { id: 'transfer-1' });
    await handle.signal('reject', { id: 'transfer-1', reason: 'twice' });
    const both = 'what waits: transfer-1, transfer-2';
    const expected = [
      ['approve', 'nothing here has the id "transfer-1"; what waits: nothing'],
      ...malformed.map(() => ['approve', `it has no "id"; ${both}`]),
      ['reject', `it has no "id"; ${both}`],
      ['approve', `nothing here has the id "transfer-9"; ${both}`],
      ['approve', `nothing here has the id "${'x'.repeat(80)}…"; ${both}`],
      ['approve', expect.stringMatching(/^"transfer-1" was already rejected at \d/)],
      ['reject', expect.stringMatching(/^"transfer-1" was already rejected at \d/)],
    ];
    expect(refusals(await handle.query(waiting))).toEqual(expected);
    await worker.kill();
    await stage.spawn();
    // The same after a replay.
    expect(refusals(await handle.query(waiting))).toEqual(expected);
    expect(await currentDetails(handle)).toContain('Refused: signal `reject`');
    await handle.signal('approve', { id: 'transfer-2', more: 'does no harm' });
    expect(await handle.result()).toEqual([rejection('transfer was not approved.'), 'sent to bob']);
    await expect(handle.signal('approve', { id: 'transfer-2' })).rejects.toThrow(
      /already completed|not found/i,
    );
  });

  test('is refused though nobody can read its payload', async () => {
    await using stage = await scene('approval-agents');
    await stage.spawn();
    const handle = await stage.start('bank', ['ann']);
    await untilWaiting(handle, ['transfer-1']);
    const { workflowService } = await client();
    const text = (value: string) => new TextEncoder().encode(value);
    const unreadable = [
      { metadata: { encoding: text('binary/encrypted') }, data: text('secret') },
      { metadata: { encoding: text('json/plain') }, data: text('{"id":') },
      { metadata: {}, data: text('{}') },
    ];
    for (const payload of unreadable) {
      await workflowService.signalWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: handle.workflowId },
        signalName: 'approve',
        input: { payloads: [payload] },
      });
    }
    await handle.signal('approve', { id: 'transfer-1' });
    expect(await handle.result()).toEqual(['sent to ann']);
    const reason = expect.stringMatching(/^it cannot be read \(.+\); what waits: transfer-1$/);
    expect(refusals(await handle.query(waiting))).toEqual(unreadable.map(() => ['approve', reason]));
  });
});
