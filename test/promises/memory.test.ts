import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type BlobStore, FileStore, memory as runMemory, MemoryStore } from '../../src/index.ts';
import { filesUnder, readableUnder } from '../kit/stored-bytes.ts';
import { dataConverter } from '../kit/xor-codec.ts';

const newRoot = () => mkdtempSync(join(tmpdir(), 'memory-'));
const newMemory = (root = newRoot(), key = 'customer-1') =>
  new MemoryStore(new FileStore(root), { actor: 'test' }).getOrCreate(key);
const because = { reason: 'a test' };
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

describe('versions', () => {
  test('are all kept, each with who wrote it, when and why', async () => {
    const memory = newMemory();
    const before = Date.now();
    await memory.writeJson('plan.json', { step: 1 }, { reason: 'first', actor: 'ann' });
    await memory.writeText('plan.json', 'two', { reason: 'second' });
    await memory.delete('plan.json', { reason: 'third' });
    await memory.writeText('plan.json', 'four', { reason: 'fourth' });
    const history = await memory.history('plan.json');
    expect(history).toEqual([
      {
        path: 'plan.json',
        version: 4,
        sha256: sha('four'),
        bytes: 4,
        actor: 'test',
        reason: 'fourth',
        writtenAt: expect.any(Number),
      },
      {
        path: 'plan.json',
        version: 3,
        sha256: null,
        bytes: 0,
        actor: 'test',
        reason: 'third',
        writtenAt: expect.any(Number),
        deleted: true,
      },
      {
        path: 'plan.json',
        version: 2,
        sha256: sha('two'),
        bytes: 3,
        actor: 'test',
        reason: 'second',
        writtenAt: expect.any(Number),
      },
      {
        path: 'plan.json',
        version: 1,
        sha256: sha('{"step":1}'),
        bytes: 10,
        actor: 'ann',
        reason: 'first',
        writtenAt: expect.any(Number),
      },
    ]);
    for (const { writtenAt } of history) expect(writtenAt).toBeGreaterThanOrEqual(before);
    expect(await memory.history('plan.json', { limit: 2 })).toEqual(history.slice(0, 2));
    expect(await memory.readAt('plan.json', 1)).toEqual({ ...history[3], text: '{"step":1}' });
    expect(await memory.readAt('plan.json', 3)).toEqual(history[1]);
    for (const version of [0, 5, -1, 1.5, Number.NaN])
      expect(await memory.readAt('plan.json', version)).toBeUndefined();
  });

  test('never change', async () => {
    const root = newRoot();
    const memory = newMemory(root);
    await memory.writeText('a.txt', 'one', because);
    const [[path, bytes]] = [...filesUnder(root)] as [[string, Buffer]];
    await memory.writeText('a.txt', 'two', because);
    await memory.delete('a.txt', because);
    expect(filesUnder(root).get(path)).toEqual(bytes);
    expect(filesUnder(root).size).toBe(3);
  });

  test('cost one read for the newest, however many there are', async () => {
    const store = new FileStore(newRoot());
    let reads = 0;
    const counting: BlobStore = {
      url: store.url,
      get: async (key) => (reads++, await store.get(key)),
      put: async (key, bytes) => await store.put(key, bytes),
      putIfAbsent: async (key, bytes) => await store.putIfAbsent(key, bytes),
      list: (prefix) => store.list(prefix),
      delete: async (key) => await store.delete(key),
    };
    const memory = new MemoryStore(counting, { actor: 'test' }).getOrCreate('k');
    for (let n = 1; n <= 12; n++) await memory.writeJson('n.json', n, because);
    reads = 0;
    expect(await memory.readJson('n.json')).toBe(12);
    expect(reads).toBe(1);
    await memory.writeJson('n.json', 13, because);
    expect(reads).toBe(2);
  });

  test('say who and why, or are refused', async () => {
    const memory = new MemoryStore(new FileStore(newRoot())).getOrCreate('k');
    for (const [options, field] of [
      [{ reason: 'r' }, 'actor'],
      [{ reason: '', actor: 'a' }, 'reason'],
      [{ reason: 'r', actor: 'a'.repeat(1_001) }, 'actor'],
      [undefined, 'actor'],
    ] as const) {
      await expect(memory.writeText('a.txt', 'x', options as never)).rejects.toMatchObject({
        name: 'DeclarationError',
        message: expect.stringContaining(`"${field}"`),
      });
    }
  });
});

describe('what is deleted', () => {
  test('reads as if there had never been anything', async () => {
    const memory = newMemory();
    expect(await memory.delete('a.json', because)).toBeUndefined();
    await memory.writeJson('a.json', 1, because);
    await memory.writeJson('b.json', 1, because);
    expect(await memory.delete('a.json', because)).toMatchObject({ version: 2, deleted: true });
    expect(await memory.readJson('a.json')).toBeUndefined();
    expect(await memory.readText('a.json')).toBeUndefined();
    expect(await memory.read('a.json')).toBeUndefined();
    expect(await memory.list()).toEqual(['b.json']);
    expect(await memory.delete('a.json', because)).toBeUndefined();
    expect(await memory.history('a.json')).toHaveLength(2);
  });
});

describe('a write that expects something', () => {
  test('is done if that is there, and otherwise refused with what is', async () => {
    const memory = newMemory();
    const one = await memory.writeJson('a.json', 1, { ...because, expectedSha: null });
    const refused = async (expectedSha: string | null, currentSha: string | null) => {
      const error = { name: 'ConcurrencyError', currentSha };
      await expect(memory.writeJson('a.json', 9, { ...because, expectedSha })).rejects.toMatchObject(error);
      await expect(memory.delete('a.json', { ...because, expectedSha })).rejects.toMatchObject(error);
    };
    await refused(null, one.sha256);
    const two = await memory.writeJson('a.json', 2, { ...because, expectedSha: one.sha256 });
    await refused(one.sha256, two.sha256);
    await memory.delete('a.json', { ...because, expectedSha: two.sha256 });
    await refused(two.sha256, null);
    await memory.writeJson('a.json', 3, { ...because, expectedSha: null });
    expect(await memory.readJson('a.json')).toBe(3);
    expect(await memory.history('a.json')).toHaveLength(4);
  });

  test('has updates of many at once all kept', async () => {
    const root = newRoot();
    const add = async (n: number) =>
      await newMemory(root).updateJson<number[]>('list.json', (list = []) => [...list, n], because);
    await Promise.all(Array.from({ length: 8 }, async (_, n) => await add(n)));
    const list = await newMemory(root).readJson<number[]>('list.json');
    expect(list?.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await newMemory(root).history('list.json')).toHaveLength(8);
  });
});

test('of the attempts of one write at once, one writes', async () => {
  const root = newRoot();
  const store = new MemoryStore(new FileStore(root));
  const attempt = () =>
    store.of('customer-1', { actor: 'run', use: async (_use, act) => await act({ id: 'same', since: 0 }) });
  const others = Array.from(
    { length: 10 },
    async (_, n) => await newMemory(root).writeJson('a.json', n, because),
  );
  const attempts = Array.from(
    { length: 5 },
    async () => await attempt().writeJson('a.json', 'mine', because),
  );
  const versions = new Set((await Promise.all(attempts)).map(({ version }) => version));
  await Promise.all(others);
  expect((await attempt().writeJson('a.json', 'mine', because)).version).toBe([...versions][0]);
  expect(versions.size).toBe(1);
  const history = await newMemory(root).history('a.json');
  expect(history.map(({ version }) => version)).toEqual(Array.from({ length: 11 }, (_, i) => 11 - i));
  expect(history.filter(({ actor }) => actor === 'run')).toHaveLength(1);
});

test('an attempt finds what another one wrote since, behind what others wrote', async () => {
  const root = newRoot();
  const store = new MemoryStore(new FileStore(root));
  const attempt = async (since: number) => {
    const memory = store.of('customer-1', {
      actor: 'run',
      use: async (_use, act) => await act({ id: 'same', since }),
    });
    return await memory.writeJson('a.json', 'mine', because);
  };
  const since = Date.now();
  await newMemory(root).writeJson('a.json', 1, because);
  const first = await attempt(Infinity);
  for (const n of [2, 3]) await newMemory(root).writeJson('a.json', n, because);
  expect(await attempt(since)).toEqual(first);
  expect(await newMemory(root).history('a.json')).toHaveLength(4);
});

test('of a key, its paths, keys and namespaces that differ in anything are apart', async () => {
  const blobs = new FileStore(newRoot());
  const paths = [
    'a',
    'A',
    'a/b',
    'a.json',
    'é',
    '__proto__',
    'CON',
    'a.',
    'a b',
    '...',
    '~',
    'x'.repeat(500),
  ];
  const keys = ['a', 'A', '../a', '/', '\u0000', ' ', '__proto__', 'e\u0301', 'é', 'k'.repeat(1_000)];
  const memories = ['default', 'other'].flatMap((namespace) =>
    keys.map((key) => new MemoryStore(blobs, { namespace, actor: 'test' }).getOrCreate(key)),
  );
  for (const [i, memory] of memories.entries())
    for (const path of i < 2 ? paths : paths.slice(0, 2))
      await memory.writeText(path, `${i} ${path}`, because);
  for (const [i, memory] of memories.entries()) {
    const written = i < 2 ? paths : paths.slice(0, 2);
    for (const path of written) expect(await memory.readText(path)).toBe(`${i} ${path}`);
    expect(await memory.list()).toEqual(written.toSorted());
  }
  expect(await memories[0]!.list('a')).toEqual(paths.filter((path) => path.startsWith('a')).toSorted());
});

describe('with codecs', () => {
  const secrets = ['the content', 'notes/secret.txt', 'the reason', 'the actor', 'customer-1'];
  const write = async (root: string, options: object) =>
    await new MemoryStore(new FileStore(root), options)
      .getOrCreate('customer-1')
      .writeText('notes/secret.txt', 'the content', { reason: 'the reason', actor: 'the actor' });

  test('nothing that was written can be read in the store, and all of it by who has them', async () => {
    const [plain, encoded] = [newRoot(), newRoot()];
    await write(plain, {});
    await write(encoded, { dataConverter });
    expect(readableUnder(plain, secrets)).toEqual(secrets);
    expect(readableUnder(encoded, secrets)).toEqual([]);
    const memory = new MemoryStore(new FileStore(encoded), { dataConverter }).getOrCreate('customer-1');
    expect(await memory.read('notes/secret.txt')).toMatchObject({ text: 'the content', actor: 'the actor' });
    await expect(newMemory(encoded).readText('notes/secret.txt')).rejects.toThrow('binary/xor');
  });

  test('what was written before there were any is still read', async () => {
    const root = newRoot();
    await write(root, {});
    await write(root, { dataConverter });
    const memory = new MemoryStore(new FileStore(root), { dataConverter }).getOrCreate('customer-1');
    expect((await memory.history('notes/secret.txt')).map(({ version }) => version)).toEqual([2, 1]);
  });
});

test('a blob put in the place of another one is refused', async () => {
  const root = newRoot();
  for (const key of ['ann', 'bob']) await newMemory(root, key).writeText('a.txt', `of ${key}`, because);
  const [one, other] = [...filesUnder(root).keys()].map((path) => join(root, path)) as [string, string];
  cpSync(one, other);
  const reads = await Promise.allSettled(
    ['ann', 'bob'].map(async (key) => await newMemory(root, key).readText('a.txt')),
  );
  expect(reads.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(reads.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { name: 'BlobStoreError' },
  });
  expect(dirname(one)).not.toBe(dirname(other));
});

test('memory() is for runs, and says what to use elsewhere', () => {
  expect(() => runMemory('k')).toThrow(
    expect.objectContaining({
      name: 'DeclarationError',
      message: expect.stringContaining('new MemoryStore'),
    }),
  );
});
