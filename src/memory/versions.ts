/** The versions of one key: immutable blobs, each with its content and all that the history tells of it. */
import type { BlobStore } from '../blobs/blob-store.ts';
import { open, seal, type Sealing } from '../blobs/sealed.ts';
import { BlobNotFoundError, BlobStoreError, ConcurrencyError } from '../errors/index.ts';
import { sha256 } from '../blobs/sha256.ts';
import type { Content } from './content.ts';
import type { MemoryContent, MemoryVersion } from './memory.ts';

/** Versions count down in the keys of their blobs, so that a list begins with the newest. */
const LAST = 9_999_999_999;
const DIGITS = String(LAST).length;

/** A version as it is stored. */
interface Stored extends MemoryContent {
  /** The memory's key; with the path and the number, it shows a blob that was put in another's place. */
  key: string;
  /** The same for every attempt of one write. */
  writeId: string;
}

/** What is to be written; without content, that there is nothing any more. */
export interface Draft extends Pick<MemoryVersion, 'actor' | 'reason' | 'run'> {
  content?: Content;
  expectedSha?: string | null | undefined;
  /** Number of the version that must be the newest; 0: there must be none. */
  expectedVersion?: number | undefined;
}

/** One attempt of a write. */
export interface Attempt {
  /** The same for every attempt of one write. */
  id: string;
  /** No earlier attempt wrote before this time, in milliseconds since 1970; `Infinity`: there was none. */
  since: number;
}

export class Versions {
  readonly #blobs: BlobStore;
  readonly #sealing: Sealing;
  readonly #key: string;
  readonly #prefix: string;

  constructor(blobs: BlobStore, sealing: Sealing, namespace: string, key: string) {
    this.#blobs = blobs;
    this.#sealing = sealing;
    this.#key = key;
    this.#prefix = `memory/${sha256(namespace)}/${sha256(key)}/`;
  }

  /** The versions of a path, newest first. What is not asked for is not read. */
  async *of(path: string): AsyncIterable<MemoryContent> {
    for await (const stored of this.#stored(path)) yield visible(stored);
  }

  async newestOf(path: string): Promise<MemoryContent | undefined> {
    for await (const newest of this.of(path)) return newest;
    return undefined;
  }

  async at(path: string, version: number): Promise<MemoryContent | undefined> {
    const stored = await this.#get(path, version);
    return stored && visible(stored);
  }

  /** The newest version of every path. */
  async *newest(): AsyncIterable<MemoryContent> {
    let seen = '';
    for await (const { key } of this.#blobs.list(this.#prefix)) {
      const folder = key.slice(0, key.lastIndexOf('/'));
      if (folder === seen) continue;
      seen = folder;
      yield visible(await this.#open(key));
    }
  }

  /**
   * Writes the next version, or finds that an earlier attempt did. `undefined`: a deletion of what is not there.
   *
   * Of two attempts at once, also in two processes, one writes: each has seen all versions since the write was first
   * tried before it makes the next, and looks at every one that was faster.
   * @throws ConcurrencyError
   */
  async write(path: string, draft: Draft, attempt: Attempt): Promise<MemoryVersion | undefined> {
    let version = 1;
    let there: string | null = null;
    for await (const stored of this.#stored(path)) {
      if (stored.writeId === attempt.id) return history(stored);
      if (stored.version >= version) {
        version = stored.version + 1;
        there = stored.sha256;
      }
      if (stored.writtenAt < attempt.since) break;
    }
    for (; ; version++) {
      assertExpected(path, draft, there, version - 1);
      if (!draft.content && there === null) return undefined;
      const stored = this.#next(path, version, draft, attempt.id);
      const bytes = await seal(stored, this.#sealing);
      if (await this.#blobs.putIfAbsent(this.#blobKey(path, version), bytes)) return history(stored);
      const faster = await this.#open(this.#blobKey(path, version));
      if (faster.writeId === attempt.id) return history(faster);
      there = faster.sha256;
    }
  }

  #next(path: string, version: number, { content, actor, reason, run }: Draft, writeId: string): Stored {
    return {
      key: this.#key,
      path,
      version,
      sha256: content?.sha256 ?? null,
      bytes: content?.bytes ?? 0,
      actor,
      reason,
      writtenAt: Date.now(),
      ...(run && { run }),
      ...(content ? { text: content.text } : { deleted: true }),
      writeId,
    };
  }

  async *#stored(path: string): AsyncIterable<Stored> {
    for await (const { key } of this.#blobs.list(this.#folder(path))) yield await this.#open(key);
  }

  async #get(path: string, version: number): Promise<Stored | undefined> {
    if (!Number.isInteger(version) || version < 1 || version > LAST) return undefined;
    try {
      return await this.#open(this.#blobKey(path, version));
    } catch (error) {
      if (error instanceof BlobNotFoundError) return undefined;
      throw error;
    }
  }

  async #open(blobKey: string): Promise<Stored> {
    const stored = await open<Stored>(await this.#blobs.get(blobKey), this.#sealing);
    if (stored.key === this.#key && this.#blobKey(stored.path, stored.version) === blobKey) return stored;
    throw new BlobStoreError(
      `Cannot read memory from blob ${blobKey} in ${this.#blobs.url}: it holds what belongs elsewhere.`,
    );
  }

  #folder(path: string): string {
    return `${this.#prefix}${sha256(path)}/`;
  }

  #blobKey(path: string, version: number): string {
    return `${this.#folder(path)}${String(LAST - version).padStart(DIGITS, '0')}`;
  }
}

function assertExpected(path: string, draft: Draft, there: string | null, newest: number): void {
  const { content, expectedSha, expectedVersion = newest } = draft;
  if ((expectedSha === undefined || expectedSha === there) && expectedVersion === newest) return;
  const found = there === null ? 'nothing is there' : `sha256 ${there} is there`;
  const expected = expectedVersion === newest ? (expectedSha ?? 'nothing') : `version ${expectedVersion}`;
  throw new ConcurrencyError(
    `Cannot ${content ? 'write' : 'delete'} ${path}: ${found}, not ${expected}. Read it again, and decide anew.`,
    { ...(there !== null && { currentSha: there }) },
  );
}

function visible({ key: _key, writeId: _writeId, ...content }: Stored): MemoryContent {
  return content;
}

function history(stored: Stored): MemoryVersion {
  const { text: _text, ...version } = visible(stored);
  return version;
}
