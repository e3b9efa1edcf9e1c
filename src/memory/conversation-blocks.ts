/** The writes of a conversation, and what all of them together leave. */

/** Items as they are kept: the last ones in the block itself, those before them in parts by name, a list for each group. */
export interface StoredItems {
  groups?: string[][];
  items: unknown[];
}

/** One write, as its version holds it. */
export type Block =
  | { kind: 'add'; stored: StoredItems }
  | { kind: 'pop' }
  | { kind: 'clear' }
  /** In the place of all that version `upTo` had. */
  | { kind: 'replace'; stored: StoredItems; upTo: number }
  /** Begins with what another conversation had at a version. */
  | { kind: 'fork'; from: { id: string; version: number }; stored: StoredItems };

/** What a conversation had at version `upTo`, kept so that a read need not go further back. */
export interface Snapshot {
  stored: StoredItems;
  upTo: number;
}

/** What is to be read of a conversation, in this order. */
export interface Plan {
  /** What it begins with; of a fork, what the other conversation had. */
  base?: { stored: StoredItems } | { from: { id: string; version: number } };
  /** Then these, oldest first. */
  blocks: Block[];
}

/**
 * Finds what leads to the state of a conversation. Looks at no more versions than it must.
 * @param newestFirst all versions up to the one whose state is asked for
 */
export async function plan(
  newestFirst: AsyncIterable<{ version: number; block: Block }>,
  snapshot: Snapshot | undefined,
): Promise<Plan> {
  let base: Plan['base'] = snapshot && { stored: snapshot.stored };
  let upTo = snapshot?.upTo ?? 0;
  let replaced = false;
  const later: Block[] = [];
  for await (const { version, block } of newestFirst) {
    if (version <= upTo) break;
    if (block.kind === 'replace') {
      // Of two, the later one counts: it kept all that it had not read. A snapshot may go too far for it.
      if (!replaced) [base, upTo, replaced] = [{ stored: block.stored }, block.upTo, true];
    } else if (block.kind === 'fork') {
      later.unshift({ kind: 'add', stored: block.stored });
      if (!replaced) base = { from: block.from };
      break;
    } else if (block.kind === 'clear' && !replaced) {
      base = undefined;
      break;
    } else later.unshift(block);
  }
  return { ...(base && { base }), blocks: later };
}

/** Applies one write to the items before it. */
export async function apply(
  items: unknown[],
  block: Block,
  load: (stored: StoredItems) => Promise<unknown[]>,
): Promise<unknown[]> {
  switch (block.kind) {
    case 'add':
      return [...items, ...(await load(block.stored))];
    case 'pop':
      return items.slice(0, -1);
    case 'clear':
      return [];
    case 'replace':
    case 'fork':
      throw new Error('Not to be applied: what comes before it does not count.');
  }
}
