import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { emptyCheckpoint } from '@langchain/langgraph';
import { MemoryCheckpointSaver } from '../../adapters/langchain/saver.ts';
import { FileStore, MemoryPathError, MemoryStore } from '../../src/index.ts';
import { filesUnder } from '../kit/stored-bytes.ts';

const newRoot = () => mkdtempSync(join(tmpdir(), 'threads-'));
const saverIn = (root: string) =>
  new MemoryCheckpointSaver({ store: new MemoryStore(new FileStore(root), { actor: 'test' }) });
const bytesUnder = (root: string) =>
  [...filesUnder(root).values()].reduce((sum, bytes) => sum + bytes.length, 0);
const metadata = (step: number) => ({ source: 'loop' as const, step, parents: {} });
const at = (thread: string, id?: string) => ({
  configurable: { thread_id: thread, ...(id !== undefined && { checkpoint_id: id }) },
});

/** Writes a checkpoint after the one before, with these channels changed. */
function writerOf(saver: MemoryCheckpointSaver, thread: string) {
  let config: object = at(thread);
  let step = 0;
  const all: Record<string, unknown> = {};
  const versions: Record<string, number> = {};
  return async (changed: Record<string, unknown>) => {
    step++;
    Object.assign(all, changed);
    for (const channel of Object.keys(changed)) versions[channel] = step;
    const checkpoint = {
      ...emptyCheckpoint(),
      channel_values: { ...all },
      channel_versions: { ...versions },
    };
    checkpoint.id = `${String(step).padStart(4, '0')}-${thread}`;
    const own = Object.fromEntries(Object.keys(changed).map((channel) => [channel, step]));
    config = await saver.put(config, checkpoint, metadata(step), own);
    return checkpoint.id;
  };
}
const valuesOf = async (saver: MemoryCheckpointSaver, thread: string, id?: string) =>
  (await saver.getTuple(at(thread, id)))?.checkpoint.channel_values;

describe('a thread', () => {
  test('has its values back as they were, of any size, in another process', async () => {
    const root = newRoot();
    const values = {
      text: 'ä\u{1F600}'.repeat(500_000),
      list: Array.from({ length: 3000 }, (_, i) => ({ z: i, a: [`item ${i}`] })),
      fields: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`f${3000 - i}`, { i }])),
      bytes: new Uint8Array(100_000).fill(7),
      set: new Set([1, 2]),
      nothing: null,
    };
    await writerOf(saverIn(root), 'a/../b')(values);
    const read = await valuesOf(saverIn(root), 'a/../b');
    expect(read).toEqual(values);
    expect(Object.keys(read!['fields'] as object)).toEqual(Object.keys(values.fields));
  });

  test('stores little again of a long list that grows, and nothing of what stays the same', async () => {
    const root = newRoot();
    const saver = saverIn(root);
    const write = writerOf(saver, 'main');
    const messages = Array.from({ length: 1000 }, (_, i) => `message ${i} `.repeat(100));
    await write({ messages, file: 'x'.repeat(200_000) });
    const first = bytesUnder(root);
    expect(first).toBeGreaterThan(1_000_000);
    for (let i = 0; i < 10; i++) await write({ counter: i });
    expect(bytesUnder(root) - first).toBeLessThan(100_000);
    const before = bytesUnder(root);
    for (let i = 0; i < 10; i++) await write({ messages: messages.concat(Array(i).fill('more')) });
    expect(bytesUnder(root) - before).toBeLessThan(10 * 100_000);
    expect((await valuesOf(saver, 'main'))!['messages']).toHaveLength(1009);
  });

  test('keeps all that many processes write at once', async () => {
    const root = newRoot();
    const writers = ['a', 'b', 'c', 'd'].map((name) => ({ name, saver: saverIn(root) }));
    const ids = await Promise.all(
      writers.map(async ({ name, saver }) => {
        const mine: string[] = [];
        for (let i = 0; i < 5; i++) {
          const checkpoint = { ...emptyCheckpoint(), id: `${i}-${name}` };
          await saver.put(at('main'), checkpoint, metadata(i), {});
          await saver.putWrites(at('main', checkpoint.id), [['ch', `${name}${i}`]], 'task');
          mine.push(checkpoint.id);
        }
        return mine;
      }),
    );
    const found: Record<string, unknown> = {};
    for await (const { checkpoint, pendingWrites } of saverIn(root).list(at('main')))
      found[checkpoint.id] = pendingWrites;
    expect(Object.keys(found).toSorted()).toEqual(ids.flat().toSorted());
    expect(found['3-b']).toEqual([['task', 'ch', 'b3']]);
  });

  test('that goes on from an earlier checkpoint has the values of that one', async () => {
    const saver = saverIn(newRoot());
    const write = writerOf(saver, 'main');
    const first = await write({ kept: 'first', other: 'o' });
    await write({ kept: 'second' });
    const branch = { ...emptyCheckpoint(), id: '9', channel_versions: { kept: 1, other: 1, own: 2 } };
    branch.channel_values = { own: 'own' };
    await saver.put(at('main', first), branch, metadata(2), { own: 2 });
    expect(await valuesOf(saver, 'main')).toEqual({ kept: 'first', other: 'o', own: 'own' });
  });

  test('begins anew once it was deleted, and the others stay', async () => {
    const saver = saverIn(newRoot());
    for (const thread of ['one', 'two']) {
      const id = await writerOf(saver, thread)({ a: thread });
      await saver.putWrites(at(thread, id), [['a', 1]], 'task');
    }
    await saver.deleteThread('one');
    expect(await saver.getTuple(at('one'))).toBeUndefined();
    await writerOf(saver, 'one')({ b: 1 });
    expect(await saver.getTuple(at('one'))).toMatchObject({
      checkpoint: { channel_values: { b: 1 } },
      pendingWrites: [],
    });
    const threads: string[] = [];
    for await (const { config } of saver.list({})) threads.push(String(config.configurable!['thread_id']));
    expect(threads.toSorted((a, b) => a.localeCompare(b))).toEqual(['one', 'two']);
  });

  test('is refused where it cannot be told from others', async () => {
    const saver = saverIn(newRoot());
    await expect(saver.getTuple(at(''))).rejects.toThrow(MemoryPathError);
    await expect(new MemoryCheckpointSaver().getTuple(at('main'))).rejects.toThrow('outside a run');
    expect(() => new MemoryCheckpointSaver({ key: 'x' } as never)).toThrow('key');
  });
});
