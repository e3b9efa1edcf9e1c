/** Conversations that outlive runs, and what the provider gets of them. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { describe, expect, test } from '@jest/globals';
import type { AgentInputItem } from '@openai/agents';
import { approve, records } from '../../../src/index.ts';
import { inGroups, kills } from '../../contract/contract-scene.ts';
import { conversationScript } from '../../fixtures/conversation-agents.ts';
import { conversationIn, exchange, wordsOf } from '../../kit/conversations.ts';
import { type Scene, scene } from '../../kit/scene.ts';
import { readableUnder } from '../../kit/stored-bytes.ts';
import { assertReplays, chainOf, client, repeatedSteps, unique } from '../../kit/temporal.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';
import { type KillAt, QUICK_START } from '../../kit/workers.ts';
import { dataConverter } from '../../kit/xor-codec.ts';

const newRoot = () => join(mkdtempSync(join(tmpdir(), 'conversations-')), 'blobs');
const sceneWith = async (root: string, env: Record<string, string> = {}) =>
  await scene('conversation-agents', { script: conversationScript, env: { KIT_BLOBS: root, ...env } });
const ask = async (stage: Scene, agent: string, input: object) =>
  (await (await stage.start(agent, input)).result()) as unknown;
/** Reads, asks, looks, asks, looks, asks, adds. */
const CHAT_STEPS = 7;

/** Asks twice, in two processes, the second one killed as told and replaced. */
async function askTwice(kill?: KillAt) {
  const root = newRoot();
  await using stage = await sceneWith(root);
  const first = await stage.spawn();
  const answers = [await ask(stage, 'chat', { key: 'ann', says: 'one' })];
  await first.kill();
  const second = await stage.spawn(kill && { kill });
  const handle = await stage.start('chat', { key: 'ann', says: 'two' });
  if (kill) {
    await second.ended;
    await stage.spawn();
  }
  answers.push((await handle.result()) as unknown);
  const histories = await chainOf(handle);
  const done = await handle.query(records);
  const requests = stage.provider.requests.filter(({ body }) => JSON.stringify(body).includes('two'));
  const bodies = Object.entries(stage.tally()).filter(([what]) => what.startsWith('look'));
  return { answers, words: await wordsOf(conversationIn(root, 'ann')), histories, done, requests, bodies };
}
const both = [...exchange('one', ['one']), ...exchange('two', ['one', 'two'])];

describe('an agent with a memoryKey', () => {
  test('knows in another process what it was told in an earlier run', async () => {
    const { answers, words, done } = await askTwice();
    expect(answers).toEqual(['heard: one', 'heard: one,two']);
    expect(words).toEqual(both);
    expect(done.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'step memory.readConversation conversations/main',
      'turn gpt-4.1',
      'tool look',
      'turn gpt-4.1',
      'tool look',
      'turn gpt-4.1',
      'step memory.writeConversation conversations/main',
    ]);
    expect(done).toHaveLength(CHAT_STEPS);
  });

  test.each(inGroups(kills(CHAT_STEPS)))('adds each item once, in order, killed at %j', async (group) => {
    for (const [i, killed] of (await Promise.all(group.map(askTwice))).entries()) {
      expect(killed.words).toEqual(both);
      expect(killed.answers).toEqual(['heard: one', 'heard: one,two']);
      expect(repeatedSteps(killed.histories)).toEqual([]);
      await assertReplays(killed.histories);
      // What was answered when the worker died, and was not recorded, is asked again.
      const twice = group[i]!.when === 'before' ? 1 : 0;
      expect(killed.requests.length).toBeLessThanOrEqual(3 + twice);
      expect(killed.bodies.reduce((sum, [, n]) => sum + n - 1, 0)).toBeLessThanOrEqual(twice);
    }
  });

  test('adds one block also where it waits for a person', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const handle = await stage.start('pays', { key: 'ann', says: 'own bill' });
    await untilWaiting(handle, ['own_pay-1']);
    expect(await wordsOf(conversationIn(root, 'ann'))).toEqual([]);
    await handle.signal(approve, { id: 'own_pay-1' });
    expect(await handle.result()).toBe('heard: own bill');
    const { items, version } = await conversationIn(root, 'ann').read();
    expect(items.map((item) => item.type)).toEqual([
      'message',
      'function_call',
      'function_call_result',
      'message',
    ]);
    expect(version).toBe(1);
  });

  test('adds what a stream said before the stream is done', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    expect(await ask(stage, 'streams', { key: 'ann', says: 'n' })).toEqual(['heard: n1', 'heard: n1,n2']);
    expect(await wordsOf(conversationIn(root, 'ann'))).toEqual([
      ...exchange('n1', ['n1']),
      ...exchange('n2', ['n1', 'n2']),
    ]);
    expect((await conversationIn(root, 'ann').read()).version).toBe(2);
  });

  test('fails at once where it cannot be', async () => {
    await using stage = await sceneWith(newRoot());
    await stage.spawn();
    for (const [input, type] of [
      [{ key: '', says: 'x' }, 'MemoryPathError'],
      [{ key: 'ann', says: 'x', conversation: '../x' }, 'MemoryPathError'],
      [{ key: 'ann', says: 'x', whenBusy: 'wait' }, 'DeclarationError'],
    ] as const)
      await expect(ask(stage, 'chat', input)).rejects.toMatchObject({ cause: { type } });
    expect(stage.provider.requests).toEqual([]);
  });
});

describe('a run that ends between a call and its result', () => {
  /** What it leaves, and what the provider gets with the next message. */
  async function after(left: object[], says = 'next') {
    const root = newRoot();
    await conversationIn(root, 'ann').append(left as AgentInputItem[]);
    await using stage = await sceneWith(root);
    await stage.spawn();
    await ask(stage, 'chat', { key: 'ann', says });
    const { input } = stage.provider.requests[0]!.body as { input: { type?: string; call_id?: string }[] };
    return input.map(({ type = 'message', call_id }) =>
      call_id === undefined ? type : `${type} ${call_id}`,
    );
  }
  const user = { type: 'message', role: 'user', content: 'hi' };
  const thought = { type: 'reasoning', id: 'rs_1', content: [] };
  const call = (callId: string) => ({ type: 'function_call', callId, name: 'look', arguments: '{}' });
  const result = (callId: string) => ({
    type: 'function_call_result',
    callId,
    name: 'look',
    status: 'completed',
    output: { type: 'text', text: 'found' },
  });

  test('leaves a conversation whose calls and results are pairs', async () => {
    expect(await after([user, thought, call('a'), call('b'), result('a')])).toEqual([
      'message',
      'reasoning',
      'function_call a',
      'function_call_output a',
      'message',
    ]);
    expect(await after([user, thought, call('a')])).toEqual(['message', 'message']);
    expect(await after([result('z'), user, thought])).toEqual(['message', 'message']);
    expect(await after([result('z'), user, thought, user, call('a')])).toEqual([
      'message',
      'message',
      'message',
    ]);
  });

  test('by being terminated leaves the conversation as it was before', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    await ask(stage, 'chat', { key: 'ann', says: 'one' });
    for (const [agent, says, id] of [
      ['pays', 'own bill', 'own_pay-1'],
      ['pays', 'bill', 'pay-1'],
    ] as const) {
      const handle = await stage.start(agent, { key: 'ann', says });
      await untilWaiting(handle, [id]);
      await handle.terminate();
    }
    expect(await ask(stage, 'chat', { key: 'ann', says: 'two' })).toBe('heard: one,two');
    expect(await wordsOf(conversationIn(root, 'ann'))).toEqual(both);
  });

  test('by being cancelled leaves what the SDK had given to the session', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const handle = await stage.start('pays', { key: 'ann', says: 'own bill' });
    await untilWaiting(handle, ['own_pay-1']);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    expect(await wordsOf(conversationIn(root, 'ann'))).toEqual([
      'user: own bill',
      expect.stringMatching(/^function_call own_pay/),
    ]);
    expect(await ask(stage, 'chat', { key: 'ann', says: 'two' })).toBe('heard: own bill,two');
  });
});

test('a long conversation with images goes on, in runs whose histories stay small', async () => {
  const root = newRoot();
  await using stage = await sceneWith(root);
  await stage.spawn();
  const show = async (images: number, bytes: number) => {
    const handle = await stage.start('shows', { key: 'ann', images, bytes });
    const shown = (await handle.result()) as unknown;
    const { historySize } = await handle.describe();
    expect(historySize).toBeLessThan(50_000);
    return shown;
  };
  expect(await show(1, 2_400_000)).toBe(1);
  expect(await show(6, 400_000)).toBe(7);
  expect(await show(300, 3_000)).toBe(307);
  const { items } = await conversationIn(root, 'ann').read();
  expect(items).toHaveLength(307 + 3);
  const sent = JSON.stringify(stage.provider.requests.at(-1)!.body);
  expect(sent.match(/data:image\/png/g)).toHaveLength(307);
});

test('with a codec, nothing of a conversation can be read in the store', async () => {
  const root = newRoot();
  const converter = new URL('../../kit/xor-codec.ts', import.meta.url).href;
  await using stage = await sceneWith(root, { KIT_DATA_CONVERTER: converter });
  await stage.spawn();
  const { connection } = await client();
  const { workflow } = new Client({ connection, dataConverter });
  for (const says of ['my pin is 1234', 'what is my pin?']) {
    const args = [{ key: 'customer-ann', says }];
    await workflow.execute('chat', {
      taskQueue: stage.taskQueue,
      workflowId: unique('chat'),
      args,
      ...QUICK_START,
    });
  }
  expect(await wordsOf(conversationIn(root, 'customer-ann', 'main', { dataConverter }))).toHaveLength(12);
  const secrets = ['my pin', 'customer-ann', 'conversations', 'heard', 'function_call', 'add 6 items'];
  expect(readableUnder(root, secrets)).toEqual([]);
});
