/** A store of LangGraph in memory answers as LangGraph's own does, in a run too. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { InMemoryStore } from '@langchain/langgraph';
import { MemoryItemStore } from '../../../adapters/langgraph/index.ts';
import { answer, FileStore, MemoryStore, records } from '../../../src/index.ts';
import { conversationScript } from '../../fixtures/conversation-agents.ts';
import { type Scene, scene } from '../../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps } from '../../kit/temporal.ts';
import { useItemStore } from '../../kit/use-item-store.ts';
import { untilAsked } from '../../kit/waiting-runs.ts';
import type { KillAt } from '../../kit/workers.ts';

const newRoot = () => join(mkdtempSync(join(tmpdir(), 'items-')), 'blobs');
const storeIn = (root: string) =>
  new MemoryItemStore({ store: new MemoryStore(new FileStore(root), { actor: 'test' }) });
const sceneWith = async (root: string) =>
  await scene('item-store-agents', { script: conversationScript, env: { KIT_BLOBS: root } });
const expected = await useItemStore(new InMemoryStore());

/** Runs an agent, its worker killed as told and replaced. */
async function runKilled(stage: Scene, agent: string, input: unknown, kill?: KillAt) {
  const worker = await stage.spawn(kill && { kill });
  const handle = await stage.start(agent, input);
  if (kill) {
    await worker.ended;
    await stage.spawn();
  }
  const result = (await handle.result()) as unknown;
  const histories = await chainOf(handle);
  await assertReplays(histories);
  expect(repeatedSteps(histories)).toEqual([]);
  return { result, done: await handle.query(records) };
}
const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe('a store over memory', () => {
  test("answers as LangGraph's own, in any process", async () => {
    const root = newRoot();
    expect(await useItemStore(storeIn(root))).toEqual(expected);
    const left = await storeIn(root).search([]);
    expect(left.map(({ key }) => key)).toHaveLength(expected.left.length);
  });

  test('keeps items of any size', async () => {
    const root = newRoot();
    const value = { text: 'ä'.repeat(1_000_000), list: Array.from({ length: 50_000 }, (_, i) => i) };
    await storeIn(root).put(['big'], 'one', value);
    expect((await storeIn(root).get(['big'], 'one'))?.value).toEqual(value);
  });

  test('writes over what others wrote since it was read', async () => {
    const root = newRoot();
    const [one, two] = [storeIn(root), storeIn(root)];
    expect(await one.get(['a'], 'k')).toBeNull();
    await two.put(['a'], 'k', { n: 2 });
    await one.put(['a'], 'k', { n: 1 });
    expect((await two.get(['a'], 'k'))!.value).toEqual({ n: 1 });
    await one.put(['a'], 'k', { n: 3 });
    await two.delete(['a'], 'k');
    expect(await one.get(['a'], 'k')).toBeNull();
  });

  test('says what it cannot do', async () => {
    await expect(storeIn(newRoot()).search(['a'], { query: 'like this' })).rejects.toThrow('embeddings');
    await expect(new MemoryItemStore().get(['a'], 'b')).rejects.toThrow('outside a run');
    await expect(storeIn(newRoot()).batch([{ namespace: [''], key: 'k' }])).rejects.toThrow('namespace');
  });
});

describe('a store over memory, in a run', () => {
  test.each([undefined, { step: 6, when: 'before' as const }, { step: 7, when: 'after' as const }])(
    "answers as LangGraph's own, killed at %j",
    async (kill) => {
      await using stage = await sceneWith(newRoot());
      const { result } = await runKilled(stage, 'uses', undefined, kill);
      expect(result).toEqual(json(expected));
    },
  );

  test.each([
    undefined,
    { step: 2, when: 'before' as const },
    { step: 2, when: 'after' as const },
    { step: 3, when: 'after' as const },
  ])('is used by a graph, each use a step, killed at %j', async (kill) => {
    const root = newRoot();
    await using stage = await sceneWith(root);
    const { result, done } = await runKilled(stage, 'counts', undefined, kill);
    expect(result).toEqual(['1', '2']);
    expect(done.map(({ name }) => name)).toEqual(
      ['get', 'put', 'get', 'put'].map((what) => `memory.${what}Item items/counts/n`),
    );
    expect((await storeIn(root).get(['counts'], 'n'))?.value).toEqual({ n: 2 });
  });

  test.each([undefined, { step: 2, when: 'before' as const }, { step: 2, when: 'after' as const }])(
    "is part of a tool's step in the body of one, killed at %j",
    async (kill) => {
      const root = newRoot();
      await using stage = await sceneWith(root);
      const { result, done } = await runKilled(stage, 'remembers', 'x', kill);
      expect(done.map(({ kind }) => kind)).toEqual(['turn', 'tool', 'turn', 'tool', 'turn']);
      // A body whose answer was lost is run again: it reads what it read before, and what it wrote is written once.
      expect(result).toEqual(['x 1', 'x 1,x 2']);
      expect(stage.tally()['remember x 1']).toBe(kill?.when === 'before' ? 2 : 1);
      expect((await storeIn(root).get(['facts'], 'all'))?.value).toEqual({ facts: ['x 1', 'x 2'] });
    },
  );

  test.each(['asks', 'clears'])('refuses to change what others wrote while it waited: %s', async (name) => {
    const root = newRoot();
    if (name === 'clears') await storeIn(root).put(['plans'], 'main', { by: 'one' });
    await using stage = await sceneWith(root);
    await stage.spawn();
    const handle = await stage.start(name);
    await untilAsked(handle, ['ask-1']);
    await storeIn(root).put(['plans'], 'main', { by: 'another' });
    await handle.signal(answer, { value: 'yes' });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'ConcurrencyError' } });
  });
});
