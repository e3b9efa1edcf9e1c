/** Sessions of the SDK over conversations: their methods, compaction, and use outside of runs. */
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Agent, OpenAIProvider, Runner } from '@openai/agents';
import { ConversationSession } from '../../../adapters/openai-agents/index.ts';
import { approve, FileStore, MemoryStore, records } from '../../../src/index.ts';
import { eachStep, inGroups } from '../../contract/contract-scene.ts';
import { conversationScript, payer } from '../../fixtures/conversation-agents.ts';
import { conversationIn, wordsOf } from '../../kit/conversations.ts';
import { type Scene, scene } from '../../kit/scene.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';
import type { KillAt } from '../../kit/workers.ts';

const newRoot = () => join(mkdtempSync(join(tmpdir(), 'conversations-')), 'blobs');
const sceneWith = async (root: string, env: Record<string, string> = {}) =>
  await scene('conversation-agents', { script: conversationScript, env: { KIT_BLOBS: root, ...env } });
const ask = async (stage: Scene, agent: string, input: object) =>
  (await (await stage.start(agent, input)).result()) as unknown;
/** The SDK's own runner, outside of runs. */
const runnerOf = ({ provider }: Scene) =>
  new Runner({ modelProvider: new OpenAIProvider({ baseURL: provider.url, apiKey: 'none' }) });

describe('a session over a conversation', () => {
  test('reads, adds, takes back and clears, between runs and in them', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    expect(await ask(stage, 'methods', { key: 'ann' })).toEqual({
      popped: { role: 'user', content: 'c' },
      last: [{ role: 'user', content: 'b' }],
      answer: 'heard: a,b,d',
      all: 4,
      id: 'ann/main',
      after: 'heard: e',
    });
    expect(await wordsOf(conversationIn(root, 'ann'))).toEqual(['user: e', 'assistant: heard: e']);
  });

  test("that is compacted by the SDK's own has what it was compacted to, killed anywhere", async () => {
    const output = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'so far' }] }];
    let compactions = 0;
    const server = createServer((_request, response) => {
      compactions++;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c', object: 'response.compaction', created_at: 0, output }));
    });
    await new Promise<void>((listens) => void server.listen(0, '127.0.0.1', listens));
    const { port } = server.address() as AddressInfo;
    const compact = async (kill?: KillAt) => {
      const root = newRoot();
      await using stage = await sceneWith(root, { COMPACT_URL: `http://127.0.0.1:${port}` });
      const worker = await stage.spawn(kill && { kill });
      const handle = await stage.start('compacts', { key: 'ann', says: 'n' });
      if (kill) {
        await worker.ended;
        await stage.spawn();
      }
      const answers = (await handle.result()) as unknown;
      return {
        answers,
        words: await wordsOf(conversationIn(root, 'ann')),
        done: await handle.query(records),
      };
    };
    const whole = await compact();
    expect(whole.answers).toEqual(['heard: n1', 'heard: n1,n2', 'heard: so far,n3']);
    expect(whole.words).toEqual(['user: so far', 'user: n3', 'assistant: heard: so far,n3']);
    expect(compactions).toBe(1);
    const steps = whole.done.map(({ name }) => name);
    const kills = eachStep(steps.length).filter(({ step }) => /add|run/.test(steps[step - 1]!));
    expect(kills.length).toBeGreaterThan(8);
    for (const [group] of inGroups(kills)) {
      for (const { answers, words } of await Promise.all(group.map(compact)))
        expect({ answers, words }).toEqual({ answers: whole.answers, words: whole.words });
    }
    server.close();
  });

  test('is used outside of runs, and by runs afterwards', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const runner = runnerOf(stage);
    const store = new MemoryStore(new FileStore(root), { actor: 'a script' });
    const session = new ConversationSession('ann', { store });
    const saying = new Agent({ name: 'Saying', instructions: 'SAY', model: 'gpt-4.1' });
    expect((await runner.run(saying, 'one', { session })).finalOutput).toBe('heard: one');
    expect((await runner.run(saying, 'two', { session })).finalOutput).toBe('heard: one,two');
    expect(await ask(stage, 'chat', { key: 'ann', says: 'three' })).toBe('heard: one,two,three');
    expect(await session.getItems(0)).toEqual([]);
    expect(await session.getItems(1)).toMatchObject([{ role: 'assistant' }]);
    await session.replaceHistoryWithCompaction([{ role: 'user', content: 'all' }]);
    expect(await ask(stage, 'chat', { key: 'ann', says: 'four' })).toBe('heard: all,four');
  });

  test('has a run outside go on in a run, once a person has decided', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const runner = runnerOf(stage);
    const store = new MemoryStore(new FileStore(root), { actor: 'a script' });
    const session = new ConversationSession('ann', { store });
    const { interruptions, state } = await runner.run(payer, 'own bill', { session });
    expect(interruptions).toHaveLength(1);
    const handle = await stage.start('resumes', { key: 'ann', state: state.toString() });
    const [pending] = await untilWaiting(handle, ['own_pay-1']);
    await handle.signal(approve, { id: pending!.id });
    expect(await handle.result()).toBe('heard: own bill');
    expect(stage.tally()).toEqual({ 'sees 2 items': 1 });
    const words = await wordsOf(conversationIn(root, 'ann'));
    expect(words.map((each) => each.split(':')[0])).toEqual([
      'user',
      'function_call own_pay',
      'function_call_result own_pay',
      'assistant',
    ]);
  });

  test('keeps a sign in the place of half a character, where a tool cut its text', async () => {
    const store = new MemoryStore(new FileStore(newRoot()), { actor: 'a script' });
    const session = new ConversationSession('ann', { store });
    await session.addItems([{ role: 'user', content: 'cut \ud83d' }]);
    expect(await session.getItems()).toEqual([{ role: 'user', content: 'cut \ufffd' }]);
  });

  test('says outside of runs what it needs there', async () => {
    const store = new MemoryStore(new FileStore(newRoot()), { actor: 'a script' });
    await expect(new ConversationSession('ann').getItems()).rejects.toMatchObject({
      name: 'DeclarationError',
      message: expect.stringContaining('new MemoryStore(blobs)'),
    });
    await expect(
      new ConversationSession('ann', { store, whenBusy: 'queue' }).getItems(),
    ).rejects.toMatchObject({ name: 'UnsupportedError' });
  });
});
