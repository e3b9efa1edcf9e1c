import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Conversation, FileStore, MemoryStore } from '../../src/index.ts';
import { filesUnder } from '../kit/stored-bytes.ts';

const newRoot = () => mkdtempSync(join(tmpdir(), 'conversation-'));
const memoryIn = (root: string) => new MemoryStore(new FileStore(root), { actor: 'test' }).getOrCreate('ann');
const newConversation = () => memoryIn(newRoot()).conversation();
const itemsOf = async (conversation: Conversation) => (await conversation.read()).items;
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('a conversation', () => {
  test('is what its writes make of it, however many there are', async () => {
    const write = fc.oneof(
      { weight: 8, arbitrary: fc.record({ add: fc.array(fc.integer(), { maxLength: 3 }) }) },
      { weight: 2, arbitrary: fc.constant('pop' as const) },
      { weight: 1, arbitrary: fc.constant('clear' as const) },
      // Puts one item in the place of what there is, or was before the last write.
      { weight: 1, arbitrary: fc.record({ replace: fc.integer({ min: 0, max: 1 }) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 60 }), async (writes) => {
        const conversation = newConversation();
        // Each item with the version that wrote it; a replacement has the version that was read.
        let model: { item: unknown; version: number }[] = [];
        let version = 0;
        for (const each of writes) {
          if (each === 'pop') {
            expect(await conversation.pop()).toEqual(model.at(-1)?.item);
            [model, version] = [model.slice(0, -1), version + 1];
          } else if (each === 'clear') {
            await conversation.clear();
            [model, version] = [[], version + 1];
          } else if ('add' in each) {
            if (each.add.length > 0) version++;
            await conversation.append(each.add);
            model.push(...each.add.map((item) => ({ item, version })));
          } else {
            // What a pop or a clear in between means is for the tests below.
            const read = version - (model.at(-1)?.version === version ? each.replace : 0);
            await conversation.replace(['all'], read);
            version++;
            model = [{ item: 'all', version: read }, ...model.filter((item) => item.version > read)];
          }
        }
        expect(await itemsOf(conversation)).toEqual(model.map(({ item }) => item));
      }),
      { numRuns: 40 },
    );
  });

  test('has all that many add at once, each write together, and of each writer in order', async () => {
    const root = newRoot();
    const writers = numbers(0, 5);
    await Promise.all(
      writers.map(async (writer) => {
        const conversation = memoryIn(root).conversation();
        for (const n of numbers(0, 15)) await conversation.append([`${writer} ${n} a`, `${writer} ${n} b`]);
      }),
    );
    const items = (await itemsOf(memoryIn(root).conversation())) as string[];
    expect(items).toHaveLength(5 * 15 * 2);
    const begun = items.filter((_item, index) => index % 2 === 0);
    expect(items).toEqual(begun.flatMap((item) => [item, item.replace('a', 'b')]));
    for (const writer of writers)
      expect(begun.filter((item) => item.startsWith(`${writer} `))).toEqual(
        numbers(0, 15).map((n) => `${writer} ${n} a`),
      );
  });

  test('keeps what was added while it was compacted', async () => {
    const conversation = newConversation();
    for (const n of numbers(0, 14)) await conversation.append([n]);
    const { version } = await conversation.read();
    // Among them one after which all is kept as a whole.
    for (const n of numbers(14, 18)) await conversation.append([n]);
    await conversation.replace(['before 14'], version);
    for (const n of numbers(18, 40)) await conversation.append([n]);
    expect(await itemsOf(conversation)).toEqual(['before 14', ...numbers(14, 40)]);
  });

  test('keeps all that either of two compactions had not read', async () => {
    const conversation = newConversation();
    for (const n of numbers(0, 4)) await conversation.append([n]);
    await conversation.replace(['before 4'], 4);
    await conversation.replace(['before 2'], 2);
    expect(await itemsOf(conversation)).toEqual(['before 2', 2, 3]);
  });

  test('is empty after a clear that came while it was compacted', async () => {
    const conversation = newConversation();
    await conversation.append([1, 2]);
    await conversation.clear();
    await conversation.replace(['all'], 1);
    await conversation.append([3]);
    expect(await itemsOf(conversation)).toEqual([3]);
  });

  test('that was deleted as a path is empty, and its items are in the history', async () => {
    const memory = memoryIn(newRoot());
    await memory.conversation().append(['secret']);
    await memory.delete('conversations/main', { reason: 'asked for' });
    expect(await itemsOf(memory.conversation())).toEqual([]);
    const history = await memory.history('conversations/main');
    expect(history.map(({ reason }) => reason)).toEqual(['asked for', 'add 1 item']);
  });

  test('is read with a few of its versions, however long it is', async () => {
    const root = newRoot();
    let read = 0;
    class Counting extends FileStore {
      override async get(key: string): Promise<Uint8Array> {
        read++;
        return await super.get(key);
      }
    }
    const store = new MemoryStore(new Counting(root), { actor: 'test' });
    const conversation = store.getOrCreate('ann').conversation();
    for (const n of numbers(0, 200)) await conversation.append([n]);
    read = 0;
    expect(await itemsOf(conversation)).toEqual(numbers(0, 200));
    expect(read).toBeLessThan(20);
  });

  test.each<[string, unknown, string]>([
    ['a Date', { at: new Date() }, '"[1].at" is a Date'],
    ['what is not there', { at: undefined }, '"[1].at" is undefined'],
    ['half a character', { at: '\ud83d' }, '"[1].at" is a text with half a character'],
  ])('refuses %s, and says where', async (_what, item, where) => {
    const conversation = newConversation();
    await expect(conversation.append([1, item])).rejects.toMatchObject({
      name: 'NotRecordableError',
      message: expect.stringContaining(where),
    });
    expect(await itemsOf(conversation)).toEqual([]);
  });

  test('has a name that can be part of a path', () => {
    const memory = memoryIn(newRoot());
    for (const id of ['', '../x', 'a//b', 'x'.repeat(301)])
      expect(() => memory.conversation(id)).toThrow(expect.objectContaining({ name: 'MemoryPathError' }));
    expect(memory.conversation('2026/support').id).toBe('2026/support');
  });
});

describe('what is large', () => {
  const image = (n: number, bytes: number) => ({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image: `data:image/png;base64,${`${n}A9/`.repeat(bytes / 4)}` }],
  });

  test('comes back as it was: one item, many, and characters of several bytes at every cut', async () => {
    for (const items of [
      [image(1, 3_000_000)],
      [image(1, 400_000), image(2, 400_000), { text: 'between' }, image(3, 400_000)],
      [{ text: `x${'😀ä'.repeat(300_000)}` }],
    ]) {
      const conversation = newConversation();
      await conversation.append([{ text: 'before' }]);
      await conversation.append(items);
      expect(await itemsOf(conversation)).toEqual([{ text: 'before' }, ...items]);
    }
  });

  test('is stored once, however often all is kept as a whole', async () => {
    const root = newRoot();
    const conversation = memoryIn(root).conversation();
    const items = numbers(0, 5).map((n) => image(n, 800_000));
    for (const item of items) await conversation.append([item]);
    for (const n of numbers(0, 60)) await conversation.append([n]);
    expect(await itemsOf(conversation)).toEqual([...items, ...numbers(0, 60)]);
    const bytes = [...filesUnder(root).values()].reduce((sum, file) => sum + file.length, 0);
    // Once in the blocks, and once in all that was kept as a whole.
    expect(bytes).toBeLessThan(2.2 * 5 * 800_000);
  });

  test('takes room as its items do, not as all that was there with each of them', async () => {
    const root = newRoot();
    const conversation = memoryIn(root).conversation();
    for (const n of numbers(0, 320)) await conversation.append([{ n, text: 'x'.repeat(4_000) }]);
    expect(await itemsOf(conversation)).toHaveLength(320);
    const bytes = [...filesUnder(root).values()].reduce((sum, file) => sum + file.length, 0);
    expect(bytes).toBeLessThan(4 * 320 * 4_000);
  });

  test('stays as it is, whatever is written at the paths of its parts', async () => {
    const memory = memoryIn(newRoot());
    await memory.conversation().append([image(1, 2_000_000)]);
    const [part] = await memory.list('conversations/main.parts/');
    await memory.delete(part!, { reason: 'by mistake' });
    expect(await itemsOf(memory.conversation())).toHaveLength(1); // its first version stays
    await memory.writeText(part!, 'other', { reason: 'by mistake' });
    expect(await itemsOf(memory.conversation())).toHaveLength(1);
  });
});

describe('a fork', () => {
  test('is not made where nothing was written since', async () => {
    const conversation = newConversation();
    await conversation.append([1]);
    const { version } = await conversation.read();
    expect(await conversation.append([2], { orForkAt: version })).toEqual({ id: 'main', version: 2 });
  });

  test('begins with what was read, and goes its own way', async () => {
    const memory = memoryIn(newRoot());
    const main = memory.conversation();
    for (const n of numbers(0, 20)) await main.append([n]);
    await main.append(['theirs']);
    const { id } = await main.append(['mine'], { orForkAt: 20 });
    expect(id).toMatch(/^main~[0-9a-f]{16}$/);
    const fork = memory.conversation(id);
    for (const n of numbers(20, 40)) await fork.append([n]);
    expect(await itemsOf(fork)).toEqual([...numbers(0, 20), 'mine', ...numbers(20, 40)]);
    expect(await itemsOf(main)).toEqual([...numbers(0, 20), 'theirs']);
  });

  test('of a fork has a name no longer than it', async () => {
    const memory = memoryIn(newRoot());
    await memory.conversation().append([1]);
    const { id } = await memory.conversation().append([2], { orForkAt: 0 });
    const second = await memory.conversation(id).append([3], { orForkAt: 0 });
    expect(second.id).toHaveLength(id.length);
    expect(await itemsOf(memory.conversation(second.id))).toEqual([3]);
  });

  test('of what was compacted has what it was compacted to', async () => {
    const memory = memoryIn(newRoot());
    await memory.conversation().append([1]);
    await memory.conversation().append([2]);
    const { id } = await memory.conversation().replace(['all'], 1, { fork: true });
    expect(await itemsOf(memory.conversation(id))).toEqual(['all']);
    expect(await itemsOf(memory.conversation())).toEqual([1, 2]);
  });
});
