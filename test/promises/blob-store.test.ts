import assert from 'node:assert';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BlobEntry, BlobStore } from '../../src/blobs/blob-store.ts';
import { openBlobs } from '../../src/blobs/open-blobs.ts';
import { BlobNotFoundError, DeclarationError } from '../../src/errors/index.ts';
import { spawnBlobs } from '../kit/blob-process.ts';
import { startS3Server, writer } from '../kit/s3-server.ts';

const folder = await mkdtemp(join(tmpdir(), 'blobs-'));
const s3 = await startS3Server();
Object.assign(process.env, writer, { AWS_REGION: 'us-east-1' });

afterAll(async () => {
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
});

const stores = [['files', pathToFileURL(join(folder, 'store')).href]];
if (s3) stores.push(['S3', `s3://${s3.bucket}/some/prefix?endpoint=${s3.endpoint}&forcePathStyle=true`]);

describe.each(stores)('a store over %s', (_, url) => {
  let store: BlobStore;
  beforeAll(() => void (store = openBlobs(url)));

  test('gives back what was written last', async () => {
    await store.put('last/a', bytes('one'));
    await store.put('last/a', bytes('two'));
    expect(await store.get('last/a')).toEqual(bytes('two'));
    expect(await openBlobs(url).get('last/a')).toEqual(bytes('two'));
  });

  test('keeps every byte, also none and many', async () => {
    const blobs = { every: Uint8Array.from({ length: 256 }, (_byte, i) => i), none: bytes('') };
    for (const [name, value] of Object.entries(blobs)) {
      await store.put(`bytes/${name}`, value);
      expect(await store.get(`bytes/${name}`)).toEqual(value);
    }
    const many = new Uint8Array(20_000_000).map((_byte, i) => i * 7);
    await store.put('bytes/many', many);
    expect(Buffer.compare(await store.get('bytes/many'), many)).toBe(0);
  });

  test('writes what is absent, once', async () => {
    expect(await store.putIfAbsent('absent/a', bytes('first'))).toBe(true);
    expect(await store.putIfAbsent('absent/a', bytes('second'))).toBe(false);
    expect(await store.get('absent/a')).toEqual(bytes('first'));
    await store.delete('absent/a');
    expect(await store.putIfAbsent('absent/a', bytes('third'))).toBe(true);
  });

  test('says what there is none of, and deletes it without an error', async () => {
    await store.put('none/a', bytes('a'));
    await store.put('none/folder/b', bytes('b'));
    await store.delete('none/a');
    await store.delete('none/a');
    await store.delete('none/a/below');
    for (const key of ['none/a', 'none/folder', 'none/folder/b/below', 'nowhere/at/all']) {
      const error = await store.get(key).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(BlobNotFoundError);
      expect((error as Error).message).toContain(key);
    }
    await store.delete('none/folder');
    expect(await store.get('none/folder/b')).toEqual(bytes('b'));
  });

  test('lists what begins with a prefix, in the order of the keys, with sizes and times', async () => {
    const before = Date.now();
    const keys = ['a', 'a-b', 'a.b', 'c/x', 'c/y/z', 'c-d', 'c.d', 'c=e', 'c_f', '0'].map(
      (key) => `list/${key}`,
    );
    for (const key of keys) await store.put(key, bytes(key));
    await store.put('list-of-others/a', bytes('a'));
    const listed = await all(store.list('list/'));
    expect(listed.map(({ key }) => key)).toEqual(keys.toSorted());
    for (const { key, size, writtenAt } of listed) {
      expect(size).toBe(key.length);
      expect(Math.abs(writtenAt - before)).toBeLessThan(60_000);
    }
    expect((await all(store.list('list/c/'))).map(({ key }) => key)).toEqual(['list/c/x', 'list/c/y/z']);
    expect((await all(store.list(''))).map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
    expect(await all(store.list('nowhere/'))).toEqual([]);
    expect(await all(store.list('list/a/'))).toEqual([]);
  });

  test('lists more than one answer of a server holds', async () => {
    const keys = Array.from({ length: 1_050 }, (_key, i) => `pages/${String(i).padStart(4, '0')}`);
    for (let i = 0; i < keys.length; i += 50)
      await Promise.all(keys.slice(i, i + 50).map((key) => store.put(key, bytes('.'))));
    expect((await all(store.list('pages/'))).map(({ key }) => key)).toEqual(keys);
  });

  test('refuses keys that could leave the store, or that two disks take for different things', async () => {
    const outside =
      '/ /etc/passwd ../outside a/../../outside a/.. ./a a//b a/ .unfinished/a a\\..\\b c:/windows';
    const unlike = ['', 'a\0b', 'UPPER', 'ümlaut', 'a b', 'a\n', 'a.', '%2e%2e/a'];
    const long = ['x'.repeat(201), `${'long/'.repeat(200)}a`];
    for (const key of [...outside.split(' '), ...unlike, ...long]) {
      const calls = [
        store.get(key),
        store.put(key, bytes('a')),
        store.putIfAbsent(key, bytes('a')),
        store.delete(key),
        all(store.list(key === '' ? '/' : `${key}/`)),
      ];
      const ends = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
      expect({ key, ends: ends.map((end) => end instanceof DeclarationError) }).toEqual({
        key,
        ends: [true, true, true, true, true],
      });
    }
    await expect(all(store.list('a'))).rejects.toThrow(DeclarationError);
  });

  test('takes the longest key', async () => {
    await store.put(longest, bytes('long'));
    expect(await store.get(longest)).toEqual(bytes('long'));
  });

  test('lets one of twenty processes write what is absent, and all read what it wrote', async () => {
    const processes = await Promise.all(Array.from({ length: 20 }, () => spawnBlobs(url)));
    try {
      for (const round of [1, 2, 3]) {
        const key = `race/${round}`;
        const written = await Promise.all(
          processes.map(async (each, i) => {
            const { result } = await each.call('putIfAbsent', key, bytes(`writer ${i}`));
            // At once: what is there must be whole, and last.
            return { won: result, read: (await each.call('get', key)).result };
          }),
        );
        const winner = written.findIndex(({ won }) => won);
        expect(written.filter(({ won }) => won === true)).toHaveLength(1);
        expect(written.filter(({ won }) => won === false)).toHaveLength(19);
        for (const { read } of written) expect(read).toEqual(bytes(`writer ${winner}`));
      }
    } finally {
      await Promise.all(processes.map((each) => each.kill()));
    }
  });

  test('shows nothing of a write whose process was killed in the middle of it', async () => {
    const size = 4_000_000;
    const seen = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const child = await spawnBlobs(url);
      void child.call('writeOn', `killed/${round % 3}`, new Uint8Array(size));
      await new Promise((resolve) => setTimeout(resolve, 300 + round * 17));
      await child.kill();
      for (const entry of await all(store.list('killed/'))) {
        expect(entry).toMatchObject({ key: expect.stringMatching(/^killed\/[0-2]\/(again|fresh)$/), size });
        seen.add(entry.key);
        // The last thing the process asked for may have been to delete it.
        const read = await store.get(entry.key).catch((error: unknown) => error);
        if (read instanceof BlobNotFoundError) continue;
        assert(read instanceof Uint8Array, String(read));
        expect(Buffer.compare(read, new Uint8Array(size).fill(read[0]!))).toBe(0);
      }
    }
    expect(seen.size).toBeGreaterThan(0);
    if (url.startsWith('file:')) expect(await readdir(new URL(`${url}/.unfinished`))).not.toEqual([]);
  });
});

/** 900 characters. */
const longest = `${`${'k'.repeat(179)}/`.repeat(4)}${'k'.repeat(180)}`;

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function all(entries: AsyncIterable<BlobEntry>): Promise<BlobEntry[]> {
  const found: BlobEntry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}
