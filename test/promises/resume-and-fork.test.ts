import { describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { approve, fork, records, reject, resume } from '../../src/index.ts';
import { type Scene, scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, unique, until } from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';

const said = (prompt: string, order: string, what: string) => `${prompt} ${order}: ${what}`;
/** What a run of `support` comes to. */
const all = (order: string, prompt = 'first') => [
  said(prompt, order, 'read'),
  `${order} was paid`,
  said(prompt, order, 'think'),
  `refunded ${order}`,
  said(prompt, order, 'write'),
  said(prompt, order, 'check'),
];
const refunds = (stage: Scene, order: string) =>
  Object.entries(stage.tally()).filter(([what]) => what.startsWith(`refund ${order} `));
const failed = async (handle: WorkflowHandle) =>
  await expect(handle.result()).rejects.toMatchObject({ name: 'WorkflowFailedError' });

describe('a run that is resumed', () => {
  test('after a bug was mended pays for what was not answered, and nothing else', async () => {
    await using stage = await scene('going-back-agents');
    const broken = await stage.spawn({ env: { BROKEN: 'yes' } });
    const handle = await stage.start('support', 'A-1');
    await failed(handle);
    expect(stage.provider.requests).toHaveLength(3);
    await broken.kill();
    await stage.spawn();
    const resumed = await resume(await client(), handle.workflowId);
    expect(await resumed.result()).toEqual(all('A-1'));
    expect(stage.provider.requests).toHaveLength(4);
    expect(refunds(stage, 'A-1').map(([, times]) => times)).toEqual([1]);
    expect(resumed.workflowId).toBe(handle.workflowId);
    expect(await resumed.query(records)).toHaveLength(6);
    await assertReplays(await chainOf(resumed));
  });

  test('after a key was mended asks what was refused again', async () => {
    let mended = false;
    await using stage = await scene('going-back-agents', {
      script: ({ messages }) => {
        const { text } = messages.at(-1)!;
        return text.includes('write') && !mended ? { status: 401, text: 'no such key' } : { text };
      },
    });
    await stage.spawn();
    const handle = await stage.start('support', 'A-2');
    await failed(handle);
    mended = true;
    const resumed = await resume(await client(), handle.workflowId);
    expect(await resumed.result()).toEqual(all('A-2'));
    expect(stage.provider.requests.map(({ status }) => status)).toEqual([200, 200, 401, 200, 200]);
    expect(refunds(stage, 'A-2').map(([, times]) => times)).toEqual([1]);
  });

  test.each(['terminate', 'cancel'] as const)(
    'after a refund that was under way as it ended asks whether to run that again, with the same idempotency key: %s',
    async (end) => {
      await using stage = await scene('going-back-agents');
      const slow = await stage.spawn({ env: { SLOW_REFUND: 'yes' } });
      const handle = await stage.start('support', 'A-3');
      await until(() => refunds(stage, 'A-3').length, 'the refund');
      if (end === 'terminate') await slow.kill();
      await handle[end]();
      await failed(handle);
      if (end === 'cancel') await slow.kill();
      await stage.spawn();
      const resumed = await resume(await client(), handle.workflowId);
      const [pending] = await untilWaiting(resumed, ['refund-1']);
      expect(pending!.prompt).toContain('may or may not have had its effect');
      expect(refunds(stage, 'A-3').map(([, times]) => times)).toEqual([1]);
      await resumed.signal(approve, { id: 'refund-1' });
      expect(await resumed.result()).toEqual(all('A-3'));
      expect(refunds(stage, 'A-3').map(([, times]) => times)).toEqual([2]);
      expect(stage.provider.requests).toHaveLength(4);
    },
  );

  test('that ended while it asked about a refund asks about it still, and starts nothing', async () => {
    await using stage = await scene('going-back-agents');
    const slow = await stage.spawn({ env: { SLOW_REFUND: 'yes' } });
    const handle = await stage.start('support', 'A-5');
    await until(() => refunds(stage, 'A-5').length, 'the refund');
    await slow.kill();
    await handle.terminate();
    await stage.spawn();
    const first = await resume(await client(), handle.workflowId);
    await untilWaiting(first, ['refund-1']);
    await first.terminate();
    const second = await resume(await client(), handle.workflowId);
    await untilWaiting(second, ['refund-1']);
    await second.signal(reject, { id: 'refund-1', reason: 'it was paid' });
    await expect(second.result()).rejects.toMatchObject({ cause: { type: 'UncertainStepError' } });
    const third = await resume(await client(), handle.workflowId);
    await untilWaiting(third, ['refund-2']);
    expect(refunds(stage, 'A-5').map(([, times]) => times)).toEqual([1]);
    await third.signal(approve, { id: 'refund-2' });
    expect(await third.result()).toEqual(all('A-5'));
  });

  test('resumes the child that failed under it', async () => {
    await using stage = await scene('going-back-agents');
    const broken = await stage.spawn({ env: { BROKEN: 'yes' } });
    const handle = await stage.start('manager', 'A-6');
    await failed(handle);
    await broken.kill();
    await stage.spawn();
    const resumed = await resume(await client(), handle.workflowId);
    expect(await resumed.result()).toEqual({ closed: all('A-6') });
    expect(stage.provider.requests).toHaveLength(4);
    expect(refunds(stage, 'A-6').map(([, times]) => times)).toEqual([1]);
    await assertReplays(await chainOf(resumed));
  });

  test('that no worker ever had, once and again, goes on from what it was started with', async () => {
    await using stage = await scene('going-back-agents');
    const handle = await stage.start('support', 'A-7');
    await handle.terminate();
    const first = await resume(await client(), handle.workflowId);
    await first.terminate();
    const second = await resume(await client(), handle.workflowId);
    await stage.spawn();
    expect(await second.result()).toEqual(all('A-7'));
    expect(stage.provider.requests).toHaveLength(4);
  });

  test('waits for a child that outlived its parent, and takes its result', async () => {
    await using stage = await scene('going-back-agents');
    const worker = await stage.spawn({ env: { SLOW_CHILD: '3000' } });
    const handle = await stage.start('delegating', 'A-8');
    await until(() => stage.tally()['child A-8'], 'the child');
    await handle.terminate();
    const resumed = await resume(await client(), handle.workflowId);
    expect(await resumed.result()).toEqual({ child: 'done A-8' });
    expect(stage.tally()).toEqual({ 'child A-8': 1 });
    await worker.kill();
  });

  test('is resumed once: not again when that completed, nor by the name of the run before', async () => {
    await using stage = await scene('going-back-agents');
    const broken = await stage.spawn({ env: { BROKEN: 'yes' } });
    const handle = await stage.start('support', 'A-9');
    await failed(handle);
    await broken.kill();
    await stage.spawn();
    const runId = handle.firstExecutionRunId;
    const both = await Promise.allSettled(
      [1, 2].map(async () => await resume(await client(), handle.workflowId, { runId })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await (await client()).workflow.getHandle(handle.workflowId).result()).toEqual(all('A-9'));
    await expect(resume(await client(), handle.workflowId, { runId })).rejects.toMatchObject({
      name: 'RunStateError',
      message: expect.stringContaining('came after it'),
    });
    expect(refunds(stage, 'A-9').map(([, times]) => times)).toEqual([1]);
  });

  test('is refused while it runs, once it completed, and when the server does not know it', async () => {
    await using stage = await scene('going-back-agents');
    const handle = await stage.start('support', 'A-4');
    const { workflowId } = handle;
    await expect(resume(await client(), workflowId)).rejects.toMatchObject({
      name: 'RunStateError',
      message: expect.stringContaining('is RUNNING'),
    });
    await stage.spawn();
    await handle.result();
    await expect(resume(await client(), workflowId)).rejects.toMatchObject({
      name: 'RunStateError',
      message: expect.stringContaining('is COMPLETED'),
    });
    await expect(resume(await client(), unique('nothing'))).rejects.toMatchObject({
      name: 'RunNotFoundError',
      message: expect.stringContaining('retention'),
    });
  });
});

describe('a fork', () => {
  /** A run that completed, and its worker replaced by one with another prompt. */
  const completed = async (order: string) => {
    const stage = await scene('going-back-agents');
    const before = await stage.spawn();
    const handle = await stage.start('support', order);
    await handle.result();
    await before.kill();
    await stage.spawn({ env: { PROMPT: 'second' } });
    return { stage, handle, ofFork: () => stage.provider.requests.length - 4 };
  };

  test('from the third step on, with another prompt, asks only what comes after, and a person before the refund', async () => {
    const { stage, handle, ofFork } = await completed('B-1');
    await using _ = stage;
    const before = await handle.fetchHistory();
    const forked = await fork(await client(), handle.workflowId, { workflowId: unique('fork'), keep: 3 });
    const [pending] = await untilWaiting(forked, ['refund-1']);
    expect(pending!.prompt).toContain('This run is a fork');
    expect(ofFork()).toBe(0);
    await forked.signal(approve, { id: 'refund-1' });
    expect(await forked.result()).toEqual([...all('B-1').slice(0, 4), ...all('B-1', 'second').slice(4)]);
    expect(ofFork()).toBe(2);
    // The refund of the fork is another one: it has a key of its own.
    expect(refunds(stage, 'B-1').map(([, times]) => times)).toEqual([1, 1]);
    expect(stage.tally()['lookup B-1']).toBe(1);
    expect((await handle.fetchHistory()).events).toEqual(before.events);
    await assertReplays(await chainOf(forked));
  });

  test('whose refund is rejected gives the agent the reason', async () => {
    const { stage, handle } = await completed('B-2');
    await using _ = stage;
    const forked = await fork(await client(), handle.workflowId, { workflowId: unique('fork'), keep: 3 });
    await untilWaiting(forked, ['refund-1']);
    await forked.signal(reject, { id: 'refund-1', reason: 'it was paid back' });
    await expect(forked.result()).rejects.toMatchObject({
      cause: { type: 'ToolRejectedError', message: 'it was paid back' },
    });
    expect(refunds(stage, 'B-2')).toHaveLength(1);
  });

  test('with live effects, another input and nothing kept is a run of its own', async () => {
    const { stage, handle, ofFork } = await completed('B-3');
    await using _ = stage;
    const options = { workflowId: unique('fork'), keep: 0, input: 'B-4', effects: 'live' as const };
    const forked = await fork(await client(), handle.workflowId, options);
    expect(await forked.result()).toEqual(all('B-4', 'second'));
    expect(ofFork()).toBe(4);
  });

  test('after more steps than there are fails by name', async () => {
    const { stage, handle } = await completed('B-5');
    await using _ = stage;
    const forked = await fork(await client(), handle.workflowId, { workflowId: unique('fork'), keep: 99 });
    await expect(forked.result()).rejects.toMatchObject({
      cause: { type: 'DeclarationError', message: expect.stringContaining('it has 6') },
    });
    const wrong = fork(await client(), handle.workflowId, { workflowId: unique('fork'), keep: -1 });
    await expect(wrong).rejects.toMatchObject({ name: 'DeclarationError' });
  });
});
