import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { BlobEntry } from '../../src/blobs/blob-store.ts';
import { byKey, inKeyOrder } from '../../src/blobs/in-key-order.ts';

const segment = fc.string({
  unit: fc.constantFrom('a', 'b', '-', '.', '=', '0'),
  minLength: 1,
  maxLength: 3,
});
const key = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => `p/${segments.join('/')}`);
const entry = (name: string): BlobEntry => ({ key: name, size: 1, writtenAt: 1 });

/** As a server that keeps folders lists. */
function byFolder(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  const at = left.findIndex((name, i) => name !== right[i]);
  return at === -1 ? left.length - right.length : byKey({ key: left[at]! }, { key: right[at] ?? '' });
}

test('what is listed by key, or folder by folder, comes in the order of the keys', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(key, { maxLength: 30 }), async (keys) => {
      const right = keys.toSorted();
      for (const listed of [right, keys.toSorted(byFolder)]) {
        const got: string[] = [];
        for await (const { key: next } of inKeyOrder(from(listed), 'p/')) got.push(next);
        expect(got).toEqual(right);
      }
    }),
  );
});

test('what is in no folder is not held back for more than the next', async () => {
  const read: string[] = [];
  for await (const { key: first } of inKeyOrder(from(['p/1', 'p/2', 'p/3', 'p/4'], read), 'p/')) {
    expect(first).toBe('p/1');
    break;
  }
  expect(read).toEqual(['p/1', 'p/2']);
});

async function* from(keys: string[], read: string[] = []): AsyncIterable<BlobEntry> {
  for (const each of keys) {
    read.push(each);
    yield entry(each);
  }
}
