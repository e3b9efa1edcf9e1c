/** Items of any size in contents of a limited one: large lists are kept in parts, named by what is in them. */
import canonicalize from 'canonicalize';
import { BlobStoreError, ConcurrencyError, NotRecordableError } from '../errors/index.ts';
import { MAX_MEMORY_BYTES } from '../protocol/limits.ts';
import { sha256 } from '../blobs/sha256.ts';
import { textContent } from './content.ts';
import type { StoredItems } from './conversation-blocks.ts';
import { whatJsonChanges } from './exact-json.ts';
import type { Attempt, Draft, Versions } from './versions.ts';

/** Bytes of items that stand in a block itself; the rest of it needs little. */
const MAX_INLINE_BYTES = MAX_MEMORY_BYTES - 10_000;
/**
 * Items are put together up to here, always from the first: so a list that grew has the same parts as before, and only its
 * end is stored again.
 */
export const GROUP_BYTES = 64 * 1024;
/** At most so many reads at once. */
const READS_AT_ONCE = 16;

/** The text of each item. @throws NotRecordableError if JSON would change one, naming the place */
export function itemTexts(items: readonly unknown[], where: string): string[] {
  const changed = whatJsonChanges(items);
  if (changed !== undefined)
    throw new NotRecordableError(`Cannot add to ${where}: ${changed}, which JSON would change.`);
  return items.map((item) => canonicalize(item)!);
}

export class ConversationParts {
  readonly #versions: Versions;
  readonly #folder: string;

  /** @param folder path under which the parts are */
  constructor(versions: Versions, folder: string) {
    this.#versions = versions;
    this.#folder = folder;
  }

  /**
   * Keeps items; a block that names them may be written afterwards. May be called again with the same items.
   * @param how `inline`: bytes of items up to which all stand in the block. `known`: parts that are there
   */
  async store(
    texts: readonly string[],
    { inline = MAX_INLINE_BYTES, known = new Set() }: { inline?: number; known?: ReadonlySet<string> },
    said: Pick<Draft, 'actor' | 'reason' | 'run'>,
    attempt: Attempt,
  ): Promise<StoredItems> {
    const bytes = texts.reduce((sum, text) => sum + sizeOf(text), 0);
    const whole = bytes <= inline ? [] : [...grouped(texts)];
    const last = bytes <= inline ? texts : isSmall(whole.at(-1)!, inline) ? whole.pop()! : [];
    const groups: string[][] = [];
    for (const group of whole) {
      const names: string[] = [];
      for (const slice of slices(`[${group.join(',')}]`)) {
        const name = sha256(slice);
        if (!known.has(name)) await this.#keep(slice, said, attempt);
        names.push(name);
      }
      groups.push(names);
    }
    const items = last.map((text) => JSON.parse(text) as unknown);
    return groups.length > 0 ? { groups, items } : { items };
  }

  async load({ groups = [], items }: StoredItems): Promise<unknown[]> {
    const read: unknown[][] = [];
    const left = [...groups.entries()];
    const reader = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const [index, names] = next;
        const texts: string[] = [];
        for (const name of names) texts.push(await this.#read(name));
        read[index] = JSON.parse(texts.join('')) as unknown[];
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, reader));
    return [...read.flat(), ...items];
  }

  async #keep(text: string, said: Pick<Draft, 'actor' | 'reason' | 'run'>, attempt: Attempt): Promise<void> {
    const content = textContent(this.#folder, text);
    const path = `${this.#folder}/${content.sha256}`;
    if (await this.#versions.at(path, 1)) return;
    try {
      const id = `${attempt.id}/${content.sha256}`;
      await this.#versions.write(path, { ...said, content, expectedVersion: 0 }, { ...attempt, id });
    } catch (error) {
      // Somebody else keeps the same.
      if (!(error instanceof ConcurrencyError)) throw error;
    }
  }

  async #read(name: string): Promise<string> {
    const path = `${this.#folder}/${name}`;
    const text = (await this.#versions.at(path, 1))?.text;
    if (text !== undefined && sha256(text) === name) return text;
    throw new BlobStoreError(`Cannot read memory at ${path}: it is gone, or other than it was written.`);
  }
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text) + 1;
}

/** Whether there may be more in a group, so that it is not yet a part. */
function isSmall(group: readonly string[], inline: number): boolean {
  return group.reduce((sum, text) => sum + sizeOf(text), 0) <= Math.min(inline, GROUP_BYTES);
}

/** Texts put together from the first on; one that is too large is alone. */
function* grouped(texts: readonly string[]): Iterable<string[]> {
  let group: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = sizeOf(text);
    if (group.length > 0 && bytes + size > GROUP_BYTES) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(text);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

/** A text cut where no character is cut. */
function* slices(text: string): Iterable<string> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(from + MAX_MEMORY_BYTES, bytes.length);
    // The bytes of a character after its first begin with the bits 10.
    while (to < bytes.length && (bytes[to]! & 0xc0) === 0x80) to--;
    yield bytes.toString('utf8', from, to);
    from = to;
  }
}
