import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FileStore, MemoryStore } from '../../src/index.ts';

const newMemory = (key = 'customer-1') =>
  new MemoryStore(new FileStore(mkdtempSync(join(tmpdir(), 'memory-'))), { actor: 'test' }).getOrCreate(key);
const because = { reason: 'a test' };
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
class Customer {
  name = 'Ann';
}

describe('what is written as JSON', () => {
  test('is read as it was', async () => {
    const memory = newMemory();
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        fc.pre(JSON.stringify(value).isWellFormed() && !/\\ud[89a-f]/.test(JSON.stringify(value)));
        await memory.writeJson('value.json', value, because);
        expect(await memory.readJson('value.json')).toEqual(plain);
      }),
      { numRuns: 50 },
    );
  });

  test('is read by others as canonical JSON, of which the SHA-256 is', async () => {
    const memory = newMemory();
    const version = await memory.writeJson('a.json', { b: [true, null, 1e21], a: 'ä' }, because);
    const text = '{"a":"ä","b":[true,null,1e+21]}';
    expect(version).toMatchObject({ version: 1, sha256: sha(text), bytes: Buffer.byteLength(text) });
    expect(await memory.readText('a.json')).toBe(text);
    expect(await memory.read('a.json')).toEqual({ ...version, text });
  });

  test.each<[string, () => unknown, string]>([
    ['a Date', () => ({ facts: [1, { at: new Date(0) }] }), '"facts[1].at" is a Date'],
    ['a Map', () => new Map(), 'it is a Map'],
    ['bytes', () => ({ file: new Uint8Array(2) }), '"file" is a Uint8Array'],
    ['an instance', () => [new Customer()], '"[0]" is a Customer'],
    ['undefined', () => ({ a: { b: undefined } }), '"a.b" is undefined'],
    ['nothing', () => undefined, 'it is undefined'],
    ['a hole', () => [1, , 2], '"[1]" is undefined'], // oxlint-disable-line no-sparse-arrays
    ['a bigint', () => ({ cents: 1n }), '"cents" is a bigint'],
    ['NaN', () => [Number.NaN], '"[0]" is NaN'],
    ['a function', () => ({ toJSON: () => 1 }), '"toJSON" is a function'],
    ['half a character', () => ['\ud800'], '"[0]" is a text with half a character'],
    ['a symbol as a field', () => ({ [Symbol('x')]: 1 }), 'it is an object with a symbol as a field'],
    [
      'a cycle',
      () => {
        const list: unknown[] = [];
        list.push({ list });
        return list;
      },
      '"[0].list" is a cycle',
    ],
  ])('is refused where JSON would change it: %s', async (_what, value, says) => {
    const memory = newMemory();
    await expect(memory.writeJson('a.json', value(), because)).rejects.toMatchObject({
      name: 'NotRecordableError',
      message: expect.stringContaining(`Cannot write a.json: ${says}`),
    });
    expect(await memory.history('a.json')).toEqual([]);
  });

  test('is what was written as JSON, not as some text', async () => {
    const memory = newMemory();
    await memory.writeText('a.txt', 'no JSON', because);
    await expect(memory.readJson('a.txt')).rejects.toMatchObject({ name: 'NotRecordableError' });
  });
});

describe('a content', () => {
  test('may have a million bytes, and no more', async () => {
    const memory = newMemory();
    const most = 'ä'.repeat(500_000);
    await memory.writeText('big.txt', most, because);
    expect(await memory.readText('big.txt')).toBe(most);
    await expect(memory.writeText('big.txt', `${most}x`, because)).rejects.toMatchObject({
      name: 'PayloadTooLargeError',
      message: expect.stringMatching(/big\.txt: it has 1000001 bytes; the limit for one content is 1000000/),
    });
  });

  test('that half a character ends is refused', async () => {
    await expect(newMemory().writeText('a.txt', 'x\ud83d', because)).rejects.toMatchObject({
      name: 'NotRecordableError',
    });
  });
});

test.each([
  ['', 'is empty'],
  ['/etc/passwd', 'begins with a slash'],
  ['../up', '".."'],
  ['a/../b', '".."'],
  ['a/./b', '"."'],
  ['a//b', 'empty part'],
  ['a/', 'empty part'],
  ['a\\b', 'backslash'],
  ['a\u0000b', 'control character'],
  ['a\nb', 'control character'],
  ['a\u0085b', 'control character'],
  ['e\u0301', 'NFC'],
  ['a\ud800', 'half a character'],
  ['x'.repeat(501), 'has 501 characters'],
  [7 as never, 'is no text'],
])('a path that is surely a mistake is refused: %j', async (path, says) => {
  const memory = newMemory();
  const refusal = { name: 'MemoryPathError', message: expect.stringContaining(says) };
  await expect(memory.readJson(path)).rejects.toMatchObject(refusal);
  await expect(memory.writeText(path, 'x', because)).rejects.toMatchObject(refusal);
  await expect(memory.delete(path, because)).rejects.toMatchObject(refusal);
});

test.each([[''], ['k'.repeat(1_001)], ['\udc00'], [7 as never]])(
  'a key that cannot be told from others is refused: %j',
  (key) => {
    expect(() => newMemory(key)).toThrow(expect.objectContaining({ name: 'MemoryPathError' }));
  },
);
