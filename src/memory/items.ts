/** Items by namespace and key, each at a path of its own: what frameworks call a store. */
import { sha256 } from '../blobs/sha256.ts';
import { ConcurrencyError } from '../errors/index.ts';
import { jsonContent } from './content.ts';
import type { StoredItems } from './conversation-blocks.ts';
import { ConversationParts } from './conversation-parts.ts';
import type { MemoryContent } from './memory.ts';
import { segment } from './memory-path.ts';
import { ofStep, said, type User } from './user.ts';
import type { Versions } from './versions.ts';

/** An item, with the number of the version that was read. */
export interface KeptItem {
  namespace: string[];
  key: string;
  value: unknown;
  /** In milliseconds since 1970, as is `updatedAt`. */
  createdAt: number;
  updatedAt: number;
  version: number;
}

/** What stands in a version, beside its time. */
type Stored = Omit<KeptItem, 'updatedAt' | 'version'>;

const FOLDER = 'items';

/** The items of one key of memory. */
export class MemoryItems {
  readonly #versions: Versions;
  readonly #user: User;
  readonly #parts: ConversationParts;

  constructor(versions: Versions, user: User) {
    this.#versions = versions;
    this.#user = user;
    this.#parts = new ConversationParts(versions, `${FOLDER}.parts`);
  }

  /** One item, and the version of its path, 0 if it never had one. */
  async get(namespace: readonly string[], key: string): Promise<{ item?: KeptItem; version: number }> {
    const path = itemPath(namespace, key);
    return await this.#user.use({ what: 'getItem', path }, async () => {
      const newest = await this.#asOfNow(await this.#versions.newestOf(path));
      const item = newest && (await this.#item(newest));
      return { ...(item && { item }), version: newest?.version ?? 0 };
    });
  }

  /** All items whose namespace begins with this one, those that were made first first. @param request what is done with them */
  async list<T>(
    prefix: readonly string[],
    request: object,
    choose: (items: KeptItem[]) => T[],
  ): Promise<T[]> {
    return await this.#user.use({ what: 'searchItems', request: { prefix, ...request } }, async () => {
      const items: KeptItem[] = [];
      for await (const newest of this.#versions.newest()) {
        if (!newest.path.startsWith(`${FOLDER}/`)) continue;
        const now = await this.#asOfNow(newest);
        const item = now && (await this.#item(now));
        if (item && prefix.every((label, i) => item.namespace[i] === label)) items.push(item);
      }
      return choose(items.toSorted((a, b) => a.createdAt - b.createdAt || compare(a, b)));
    });
  }

  /**
   * Puts plain JSON, or takes the item away with `null`.
   * @param readVersion that was read; refused if others have written since. @default the last one to write counts
   * @returns the version that is there now
   * @throws ConcurrencyError; NotRecordableError if JSON would change the value
   */
  async put(
    namespace: readonly string[],
    key: string,
    value: unknown,
    readVersion?: number,
  ): Promise<{ version: number }> {
    const path = itemPath(namespace, key);
    const { run, actor: user } = this.#user;
    const actor = said(`Cannot write ${path}`, 'actor', user);
    const request = { sha256: value === null ? null : jsonSha(path, value) };
    return await this.#user.use({ what: 'putItem', path, request }, async (attempt, step) => {
      const by = { actor, ...ofStep(run, step) };
      for (;;) {
        const newest = await this.#versions.newestOf(path);
        const version = newest?.version ?? 0;
        if (readVersion !== undefined) await this.#assertRead(path, readVersion);
        const why = { ...by, reason: value === null ? 'delete' : 'put', expectedVersion: version };
        try {
          if (value === null)
            return { version: (await this.#versions.write(path, why, attempt))?.version ?? version };
          const createdAt = (newest && (await this.#item(newest))?.createdAt) ?? Date.now();
          const item: Stored = { namespace: [...namespace], key, value, createdAt };
          const stored = await this.#parts.store([JSON.stringify(item)], {}, why, attempt);
          const content = jsonContent(path, stored);
          return { version: (await this.#versions.write(path, { ...why, content }, attempt))!.version };
        } catch (error) {
          // Another one was faster: looked at again.
          if (!(error instanceof ConcurrencyError)) throw error;
        }
      }
    });
  }

  /** What this run wrote itself is no surprise to it. */
  async #assertRead(path: string, readVersion: number): Promise<void> {
    const { run } = this.#user;
    for await (const { version, run: writer, sha256: there } of this.#versions.of(path)) {
      if (version <= readVersion) return;
      if (run && writer?.workflowId === run.workflowId) continue;
      throw new ConcurrencyError(
        `Cannot write ${path}: others have written since it was read. Read it again, and decide anew.`,
        there === null ? {} : { currentSha: there },
      );
    }
  }

  /** What was there before an earlier attempt of this step went further. */
  async #asOfNow(newest: MemoryContent | undefined): Promise<MemoryContent | undefined> {
    const { run: own, isLater } = this.#user;
    if (!own || !isLater) return newest;
    const hides = ({ run }: MemoryContent) => run?.workflowId === own.workflowId && isLater(run.step);
    let now = newest;
    while (now && hides(now)) now = await this.#versions.at(now.path, now.version - 1);
    return now;
  }

  async #item({ text, writtenAt, version }: MemoryContent): Promise<KeptItem | undefined> {
    if (text === undefined) return undefined;
    const [stored] = (await this.#parts.load(JSON.parse(text) as StoredItems)) as [Stored];
    return { ...stored, updatedAt: writtenAt, version };
  }
}

function itemPath(namespace: readonly string[], key: string): string {
  return [FOLDER, ...namespace, key].map(segment).join('/');
}

function jsonSha(path: string, value: unknown): string {
  return sha256(JSON.stringify([path, value]));
}

function compare(a: KeptItem, b: KeptItem): number {
  return itemPath(a.namespace, a.key).localeCompare(itemPath(b.namespace, b.key));
}
