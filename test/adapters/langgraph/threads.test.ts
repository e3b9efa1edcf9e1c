/** Threads of LangGraph that outlive runs. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { BaseMessage } from '@langchain/core/messages';
import { answer, FileStore, MemoryStore, records } from '../../../src/index.ts';
import { MemoryCheckpointSaver } from '../../../adapters/langchain/saver.ts';
import { eachStep, inGroups, kills } from '../../contract/contract-scene.ts';
import { conversationScript } from '../../fixtures/conversation-agents.ts';
import type { ProviderScript } from '../../../src/testing/index.ts';
import { type Scene, scene } from '../../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps } from '../../kit/temporal.ts';
import { untilAsked } from '../../kit/waiting-runs.ts';
import type { KillAt } from '../../kit/workers.ts';

const newRoot = () => join(mkdtempSync(join(tmpdir(), 'threads-')), 'blobs');
const sceneWith = async (root: string) =>
  await scene('thread-agents', { script: conversationScript, env: { KIT_BLOBS: root } });
const run = async (stage: Scene, agent: string, input: object) =>
  (await (await stage.start(agent, input)).result()) as unknown;

/** All checkpoints of a thread, the newest first, seen from outside of runs. */
async function checkpointsIn(root: string, thread: string) {
  const saver = new MemoryCheckpointSaver({ store: new MemoryStore(new FileStore(root)) });
  const all = [];
  for await (const each of saver.list({ configurable: { thread_id: thread } })) all.push(each);
  return all;
}
const textsIn = async (root: string, thread: string) =>
  ((await checkpointsIn(root, thread))[0]!.checkpoint.channel_values['messages'] as BaseMessage[]).map(
    ({ type, text }) => `${type}: ${text}`,
  );
const exchange = (says: string, heard: string) => [
  `human: ${says}`,
  'ai: ',
  `tool: found ${says} 1`,
  'ai: ',
  `tool: found ${says} 2`,
  `ai: heard: ${heard}`,
];
/** Reads, asks, looks, asks, looks, asks, writes. */
const CHAT_STEPS = 7;

/** Asks twice, in two processes, the second one killed as told and replaced. */
async function askTwice(kill?: KillAt) {
  const root = newRoot();
  await using stage = await sceneWith(root);
  const first = await stage.spawn();
  const answers = [await run(stage, 'chat', { thread: 'main', says: 'one' })];
  await first.kill();
  const second = await stage.spawn(kill && { kill });
  const handle = await stage.start('chat', { thread: 'main', says: 'two' });
  if (kill) {
    await second.ended;
    await stage.spawn();
  }
  answers.push((await handle.result()) as unknown);
  const [histories, done] = [await chainOf(handle), await handle.query(records)];
  const requests = stage.provider.requests.filter(({ body }) => JSON.stringify(body).includes('two'));
  const bodies = Object.values(stage.tally());
  const checkpoints = await checkpointsIn(root, 'main');
  return { answers, texts: await textsIn(root, 'main'), checkpoints, histories, done, requests, bodies };
}
const both = [...exchange('one', 'one'), ...exchange('two', 'one,two')];

describe('a graph with MemoryCheckpointSaver', () => {
  test('knows in another process what it was told in an earlier run; a read and a write are all that takes', async () => {
    const { answers, texts, done, checkpoints } = await askTwice();
    expect(answers).toEqual(['heard: one', 'heard: one,two']);
    expect(texts).toEqual(both);
    expect(checkpoints).toHaveLength(2);
    expect(done.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'step memory.readThread threads/main',
      'turn gpt-4.1',
      'tool look',
      'turn gpt-4.1',
      'tool look',
      'turn gpt-4.1',
      'step memory.keepThread threads/main',
    ]);
    expect(done).toHaveLength(CHAT_STEPS);
  });

  test.each(inGroups(kills(CHAT_STEPS, true)))('writes its state once, killed at %j', async (group) => {
    for (const [i, killed] of (await Promise.all(group.map(askTwice))).entries()) {
      expect(killed.answers).toEqual(['heard: one', 'heard: one,two']);
      expect(killed.texts).toEqual(both);
      expect(killed.checkpoints).toHaveLength(2);
      expect(killed.checkpoints[0]!.parentConfig).toEqual(killed.checkpoints[1]!.config);
      expect(killed.done).toHaveLength(CHAT_STEPS);
      expect(repeatedSteps(killed.histories)).toEqual([]);
      await assertReplays(killed.histories);
      // What was answered when the worker died, and was not recorded, is asked again.
      const twice = group[i]!.when === 'before' ? 1 : 0;
      expect(killed.requests.length).toBeLessThanOrEqual(3 + twice);
      expect(killed.bodies.reduce((sum, n) => sum + n - 1, 0)).toBeLessThanOrEqual(twice);
    }
  });

  test('writes what a stream came to before the stream is done', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    expect(await run(stage, 'streams', { thread: 'main', says: 'n' })).toEqual(['heard: n1', 'heard: n1,n2']);
    expect(await textsIn(root, 'main')).toEqual([...exchange('n1', 'n1'), ...exchange('n2', 'n1,n2')]);
    expect(await checkpointsIn(root, 'main')).toHaveLength(2);
  });

  test.each(['sync', 'async'])('writes each superstep with durability %s', async (durability) => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const handle = await stage.start('chat', { thread: 'main', says: 'one', durability });
    expect(await handle.result()).toBe('heard: one');
    const checkpoints = await checkpointsIn(root, 'main');
    expect(checkpoints.map(({ metadata }) => metadata?.step)).toEqual([5, 4, 3, 2, 1, 0, -1]);
    const done = await handle.query(records);
    expect(done.filter(({ name }) => name.includes('keepThread'))).toHaveLength(7);
    expect(await textsIn(root, 'main')).toEqual(exchange('one', 'one'));
  });

  test('has each superstep once, after the one before, killed between two of them', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    const first = await stage.spawn({ kill: { step: 5, when: 'after' } });
    const handle = await stage.start('chat', { thread: 'main', says: 'one', durability: 'sync' });
    await first.ended;
    await stage.spawn();
    expect(await handle.result()).toBe('heard: one');
    const all = await checkpointsIn(root, 'main');
    expect(all.map(({ metadata }) => metadata?.step)).toEqual([5, 4, 3, 2, 1, 0, -1]);
    expect(all.map(({ parentConfig }) => parentConfig)).toEqual([
      ...all.slice(1).map(({ config }) => config),
      undefined,
    ]);
    expect(await textsIn(root, 'main')).toEqual(exchange('one', 'one'));
  });

  // It reads and writes; questions are no activities.
  test.each([undefined, ...eachStep(2)])('goes on where people let it, killed at %j', async (kill) => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    const first = await stage.spawn(kill && { kill });
    const replaced = kill && first.ended.then(async () => await stage.spawn());
    const handle = await stage.start('asks', { thread: 'main', says: 'go' });
    // A query that is under way while a worker dies can make a history that no replay follows (ARCHITECTURE.md, rule 14).
    if (kill?.step === 1) await replaced;
    await untilAsked(handle, ['interrupt-1']);
    if (!kill) expect(await checkpointsIn(root, 'main')).toEqual([]);
    await handle.signal(answer, { id: 'interrupt-1', value: 'a' });
    await untilAsked(handle, ['interrupt-2']);
    await handle.signal(answer, { id: 'interrupt-2', value: 'b' });
    const said = ['go', 'go 1: a', '2: b'];
    expect(await handle.result()).toEqual(said);
    await replaced;
    const [newest, ...before] = await checkpointsIn(root, 'main');
    expect(newest).toMatchObject({ checkpoint: { channel_values: { said } }, pendingWrites: [] });
    // Where it was interrupted.
    expect(before).toHaveLength(2);
    await assertReplays(await chainOf(handle));
    expect(await handle.query(records)).toHaveLength(4);
  });

  test('keeps what a run had come to before it failed', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    const handle = await stage.start('asks', { thread: 'main', says: 'break' });
    await untilAsked(handle, ['interrupt-1']);
    await handle.signal(answer, { id: 'interrupt-1', value: 'a' });
    await expect(handle.result()).rejects.toMatchObject({ cause: { message: 'it broke' } });
    const [newest] = await checkpointsIn(root, 'main');
    expect(newest!.checkpoint.channel_values['said']).toEqual(['break', 'break 1: a']);
  });

  test.each([
    [[undefined, { step: 2, when: 'after' as const }, { step: 4, when: 'before' as const }]],
    [[5, 7, 9].map((step) => ({ step, when: 'after' as const }))],
  ])(
    'lets the code of a run look at a state, change it, go back and delete it, killed at %j',
    async (group) => {
      const edit = async (kill?: KillAt) => {
        const root = newRoot();
        await using stage = await sceneWith(root);
        const first = await stage.spawn(kill && { kill });
        const handle = await stage.start('edits', { thread: 'main' });
        if (kill) {
          await first.ended;
          await stage.spawn();
        }
        const result = (await handle.result()) as unknown;
        return { result, left: await checkpointsIn(root, 'main'), histories: await chainOf(handle) };
      };
      for (const { result, left, histories } of await Promise.all(group.map(edit))) {
        expect(result).toEqual({
          before: {},
          values: { said: ['a', '1', 'by hand'] },
          same: true,
          history: [5, 3, 2],
          back: ['a', '1', 'c', '3'],
          after: {},
        });
        expect(left).toEqual([]);
        await assertReplays(histories);
      }
    },
  );

  test('keeps the state of a graph within it that has one of its own', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    await stage.spawn();
    expect(await run(stage, 'nests', { thread: 'main' })).toEqual(['x', 'inner 1']);
    expect(await run(stage, 'nests', { thread: 'main' })).toEqual(['x', 'inner 1', 'x', 'inner 3']);
  });

  test('writes what each of two invocations at once came to, whichever ends first after a kill', async () => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    // Both read, and one has written.
    const first = await stage.spawn({ kill: { step: 3, when: 'after' } });
    const handle = await stage.start('races', { thread: 'main' });
    await first.ended;
    await stage.spawn({ env: { TURNED: 'yes' } });
    await handle.result();
    const states = (await checkpointsIn(root, 'main')).map(({ checkpoint }) => checkpoint.channel_values);
    expect(states.map(({ said }) => said)).toEqual([
      ['first', 'done'],
      ['last', 'done'],
    ]);
    expect(repeatedSteps(await chainOf(handle))).toEqual([]);
  });

  test('must be told which thread', async () => {
    await using stage = await sceneWith(newRoot());
    await stage.spawn();
    await expect(run(stage, 'withoutThread', {})).rejects.toMatchObject({
      cause: { type: 'DeclarationError' },
    });
  });
});

describe('an invocation that writes each superstep', () => {
  const walk = async (kill?: KillAt) => {
    const root = newRoot();
    const script: ProviderScript = ({ attempt }) => ({ text: String(attempt) });
    await using stage = await scene('thread-agents', { script, env: { KIT_BLOBS: root } });
    const first = await stage.spawn({ ...(kill && { kill }) });
    const handle = await stage.start('walks', { thread: 'main', says: 'start', durability: 'sync' });
    if (kill) {
      await first.ended;
      await stage.spawn();
    }
    const said = (await handle.result()) as string[][];
    const checkpoints = await Promise.all(
      ['main', 'main-2'].map(async (each) => await checkpointsIn(root, each)),
    );
    const steps = checkpoints.map((all) => all.map(({ metadata }) => metadata?.step));
    const histories = await chainOf(handle);
    expect(repeatedSteps(histories)).toEqual([]);
    await assertReplays(histories);
    return { said, steps, requests: stage.provider.requests.length, goes: stage.tally()['goes'] };
  };
  /** A read, a write of the input and of what follows from it, and five times a turn and a write; twice that. */
  const STEPS = 26;
  const each = [4, 3, 2, 1, 0, -1].map((step) => step + 1);

  test('asks the same in each, and has an answer of its own each time', async () => {
    const { said, ...rest } = await walk();
    expect(said).toEqual([
      ['start', '1', '2', '3', '4', '5'],
      ['start', '6', '7', '8', '9', '10'],
    ]);
    expect(rest).toEqual({
      steps: [
        [...each, -1],
        [...each, -1],
      ],
      requests: 10,
      goes: 10,
    });
  });

  test.each(inGroups(kills(STEPS, true)))('does one superstep again at most, killed at %j', async (group) => {
    for (const [i, { said, steps, requests, goes }] of (await Promise.all(group.map(walk))).entries()) {
      const answers = said.flatMap(([start, ...rest]) => {
        expect([start, rest]).toEqual(['start', expect.any(Array)]);
        return rest.map(Number);
      });
      expect(answers).toHaveLength(10);
      expect(answers).toEqual([...new Set(answers)].toSorted((a, b) => a - b));
      expect(steps).toEqual([
        [...each, -1],
        [...each, -1],
      ]);
      expect(requests).toBeLessThanOrEqual(10 + (group[i]!.when === 'before' ? 1 : 0));
      expect(goes).toBeLessThanOrEqual(11);
    }
  });
});
