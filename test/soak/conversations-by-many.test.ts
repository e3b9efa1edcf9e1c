/** Several runs in one conversation at once, in each of the ways they can be told to. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { approve, FileStore, MemoryStore, records } from '../../src/index.ts';
import { inGroups, kills } from '../contract/contract-scene.ts';
import { type ChatInput, conversationScript } from '../fixtures/conversation-agents.ts';
import { conversationIn, exchange, wordsOf } from '../kit/conversations.ts';
import { type Scene, scene } from '../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps, until } from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';
import type { KillAt } from '../kit/workers.ts';

const newRoot = () => join(mkdtempSync(join(tmpdir(), 'conversations-')), 'blobs');
const sceneWith = async (root: string, options: { worker?: object } = {}) =>
  await scene('conversation-agents', { script: conversationScript, env: { KIT_BLOBS: root }, ...options });
type Mode = NonNullable<ChatInput['whenBusy']>;

const start = async (stage: Scene, says: string, whenBusy: Mode, agent = 'chat') =>
  await stage.start(agent, { key: 'ann', says, whenBusy });
/** How many turns of a run were answered. */
const asksFor = (stage: Scene, says: string) => stage.asked(`"${says}"`);

/** Two runs of three turns each on one conversation, the second started while the first is in its second turn. */
async function together(whenBusy: Mode) {
  const root = newRoot();
  await using stage = await sceneWith(root);
  await Promise.all([stage.spawn(), stage.spawn()]);
  await (await start(stage, 'before', whenBusy)).result();
  const first = await start(stage, 'a wait 700', whenBusy);
  await until(() => stage.asked('a wait 700') > 1, 'the second turn of the first');
  const second = await start(stage, 'b wait 100', whenBusy);
  const [one, two] = await Promise.allSettled([first.result(), second.result()]);
  const histories = [...(await chainOf(first)), ...(await chainOf(second))];
  await assertReplays(histories);
  const words = await wordsOf(conversationIn(root, 'ann'));
  const steps = (await second.query(records)).map(({ name }) => name);
  const answers = [one, two].map((each) =>
    each.status === 'fulfilled' ? (each.value as unknown) : undefined,
  );
  const error = two.status === 'rejected' ? (two.reason as { cause?: unknown }).cause : undefined;
  return { root, words, answers, error, first, steps };
}
const before = exchange('before', ['before']);
const a = exchange('a wait 700', ['before', 'a wait 700']);
const b = exchange('b wait 100', ['before', 'b wait 100']);

describe('of two runs at once', () => {
  test('both go on from what they read, and add their exchange when they end', async () => {
    const { words, answers } = await together('append');
    expect(words).toEqual([...before, ...b, ...a]);
    expect(answers).toEqual(['heard: before,a wait 700', 'heard: before,b wait 100']);
  });

  test('with "fork" the later one to end goes on in a conversation of its own, and says in which', async () => {
    const { root, words, answers } = await together('fork');
    expect(words).toEqual([...before, ...b]);
    const { answer, fork } = answers[0] as { answer: string; fork: string };
    expect([answer, answers[1]]).toEqual(['heard: before,a wait 700', 'heard: before,b wait 100']);
    expect(await wordsOf(conversationIn(root, 'ann', fork))).toEqual([...before, ...a]);
  });

  test('with "reject" the later one fails, and names the run that holds the conversation', async () => {
    const { words, error, first } = await together('reject');
    expect(words).toEqual([...before, ...a]);
    expect(error).toMatchObject({
      type: 'ConversationBusyError',
      message: expect.stringContaining(first.workflowId),
    });
  });

  test('with "queue" the later one waits, and then knows what the first one was told', async () => {
    const { words, answers, steps } = await together('queue');
    const last = exchange('b wait 100', ['before', 'a wait 700', 'b wait 100']);
    expect(words).toEqual([...before, ...a, ...last]);
    expect(answers[1]).toBe('heard: before,a wait 700,b wait 100');
    // Waiting is one step, whose retries leave nothing in the history.
    expect(steps.filter((name) => name.startsWith('memory.holdConversation'))).toHaveLength(1);
  });
});

test.each(['before', 'after'] as const)(
  'a fork is made once, killed %s the step that makes it',
  async (when) => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    const worker = await stage.spawn({ kill: { step: 7, when } });
    const handle = await start(stage, 'a wait 300', 'fork');
    await until(() => asksFor(stage, 'a wait 300'), 'the first turn');
    await conversationIn(root, 'ann').append([{ role: 'user', content: 'theirs' }]);
    await worker.ended;
    await stage.spawn();
    const { fork } = (await handle.result()) as { fork: string };
    expect(await wordsOf(conversationIn(root, 'ann', fork))).toEqual(exchange('a wait 300', ['a wait 300']));
    expect(await wordsOf(conversationIn(root, 'ann'))).toEqual(['user: theirs']);
    const store = new MemoryStore(new FileStore(root));
    expect(await store.getOrCreate('ann').list()).toEqual(['conversations/main', `conversations/${fork}`]);
  },
);

describe('a conversation that a run holds', () => {
  test('is free again once that run is over, whatever ended it', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const holder = await start(stage, 'a wait 60000', 'queue');
    await until(() => stage.asked('a wait 60000'), 'the first turn');
    const waiter = await start(stage, 'b', 'queue');
    await until(async () => {
      const { raw } = await waiter.describe();
      return raw.pendingActivities?.some(({ attempt }) => (attempt ?? 0) > 1);
    }, 'a second look');
    await holder.terminate();
    expect(await waiter.result()).toBe('heard: b');
    const rejecting = await start(stage, 'c', 'reject');
    expect(await rejecting.result()).toBe('heard: b,c');
    expect(await wordsOf(conversationIn(root, 'ann'))).toEqual([
      ...exchange('b', ['b']),
      ...exchange('c', ['b', 'c']),
    ]);
  });

  test('is waited for by a run that gave it back and was then let go on, also with "reject"', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const paying = await start(stage, 'bill', 'reject', 'pays');
    await untilWaiting(paying, ['pay-1']);
    const other = await start(stage, 'b wait 700', 'reject');
    await until(() => asksFor(stage, 'b wait 700'), 'the first turn of the other');
    await paying.signal(approve, { id: 'pay-1' });
    expect(await other.result()).toBe('heard: b wait 700');
    expect(await paying.result()).toBe('heard: bill');
    // What was paid is not lost to the model, as an error of a tool would be.
    const words = await wordsOf(conversationIn(root, 'ann'));
    expect(words.slice(6)).toContain('function_call_result pay: paid bill');
  });

  test.each(['bill', 'own bill'])('is given back while it waits for a person (%s)', async (says) => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const holder = await start(stage, says, 'queue', 'pays');
    const [pending] = await untilWaiting(holder, [says === 'bill' ? 'pay-1' : 'own_pay-1']);
    expect(await (await start(stage, 'b', 'reject')).result()).toBe('heard: b');
    await holder.signal(approve, { id: pending!.id });
    expect(await holder.result()).toBe(`heard: ${says}`);
    const words = await wordsOf(conversationIn(root, 'ann'));
    expect(words.slice(0, 6)).toEqual(exchange('b', ['b']));
    expect(words.slice(6)).toHaveLength(4);
    const held = (await holder.query(records)).filter(({ name }) =>
      name.startsWith('memory.holdConversation'),
    );
    expect(held).toHaveLength(2);
  });

  test('is that of an agent too which is a tool of the one that holds it', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    expect(await (await start(stage, 'bill', 'queue', 'nested')).result()).toBe('heard: bill');
    const words = await wordsOf(conversationIn(root, 'ann'));
    expect(words.map((each) => each.split(':')[0])).toEqual([
      'user',
      'assistant',
      'user',
      'function_call pay',
      'function_call_result pay',
      'assistant',
    ]);
    expect(await (await start(stage, 'next', 'reject')).result()).toBe('heard: bill,bill,next');
  });

  test('is waited for without a slot of the worker', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root, { worker: { maxConcurrentActivityTaskExecutions: 2 } });
    await stage.spawn();
    const holder = await start(stage, 'a wait 1000', 'queue');
    await until(() => asksFor(stage, 'a wait 1000'), 'the first turn');
    const waiters = await Promise.all([1, 2, 3, 4].map(async (n) => await start(stage, `w${n}`, 'queue')));
    await holder.result();
    const answers = await Promise.all(waiters.map(async (waiter) => (await waiter.result()) as string));
    // Each heard all that those before it were told.
    const heard = answers.map((answer) => answer.split(',').length).toSorted((x, y) => x - y);
    expect(heard).toEqual([2, 3, 4, 5]);
    expect(await wordsOf(conversationIn(root, 'ann'))).toHaveLength(5 * 6);
  });

  const QUEUE_STEPS = 9;
  test.each(inGroups(kills(QUEUE_STEPS)))(
    'is held and let go once, and has each item once, killed at %j',
    async (group) => {
      const killed = async (kill: KillAt) => {
        const root = newRoot();
        await using stage = await sceneWith(root);
        const worker = await stage.spawn({ kill });
        const handle = await start(stage, 'one', 'queue');
        await worker.ended;
        await stage.spawn();
        const answers = [await handle.result(), await (await start(stage, 'two', 'reject')).result()];
        const histories = await chainOf(handle);
        await assertReplays(histories);
        expect(repeatedSteps(histories)).toEqual([]);
        const steps = (await handle.query(records)).length;
        return { answers, steps, words: await wordsOf(conversationIn(root, 'ann')) };
      };
      const answers = ['heard: one', 'heard: one,two'];
      const words = [...exchange('one', ['one']), ...exchange('two', ['one', 'two'])];
      for (const run of await Promise.all(group.map(killed)))
        expect(run).toEqual({ answers, steps: QUEUE_STEPS, words });
    },
  );
});

test('runs whose workers are killed one after the other lose nothing and mix nothing', async () => {
  const root = newRoot();
  await using stage = await sceneWith(root);
  await Promise.all([stage.spawn({ kill: { step: 5, when: 'before' } }), stage.spawn()]);
  const says = ['a', 'b', 'c', 'd'];
  const handles = await Promise.all(says.map(async (what) => await start(stage, what, 'append')));
  await stage.spawn();
  await Promise.all(handles.map(async (handle) => await handle.result()));
  const words = await wordsOf(conversationIn(root, 'ann'));
  expect(words).toHaveLength(4 * 6);
  for (const what of says) {
    const at = words.indexOf(`user: ${what}`);
    expect(words.slice(at, at + 5)).toEqual(exchange(what, []).slice(0, 5));
    expect(words[at + 5]).toMatch(new RegExp(`^assistant: heard: .*${what}$`));
  }
});
