import type { BlobEntry } from './blob-store.ts';

/**
 * Brings into the order of their keys what a server lists folder by folder: SeaweedFS has `a/b` before `a-b`. It holds
 * back only what begins like the first segment it holds, so that a list without folders comes as it is read.
 */
export async function* inKeyOrder(
  entries: AsyncIterable<BlobEntry>,
  prefix: string,
): AsyncGenerator<BlobEntry> {
  let held: BlobEntry[] = [];
  let stem = '';
  for await (const entry of entries) {
    if (!entry.key.startsWith(stem)) {
      yield* held.toSorted(byKey);
      held = [];
    }
    if (held.length === 0) stem = prefix + entry.key.slice(prefix.length).split('/')[0]!;
    held.push(entry);
  }
  yield* held.toSorted(byKey);
}

/** By code units, which for keys is the order of their bytes. */
export function byKey(a: { key: string }, b: { key: string }): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
