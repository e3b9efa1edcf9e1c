/** Memory as a user sees it: contents by path, each with all its versions. Types only. */
import type { Conversation } from './conversation.ts';

/** What is kept of every write, for ever. */
export interface MemoryVersion {
  path: string;
  /** 1 for the first write of the path, then one more each. */
  version: number;
  /** SHA-256, in hex, of the content's bytes: the text as UTF-8, JSON in canonical form (RFC 8785). `null` if deleted. */
  sha256: string | null;
  /** Size of the content, in bytes. */
  bytes: number;
  /** Who wrote. */
  actor: string;
  /** Why. */
  reason: string;
  /** When, by the writer's clock; milliseconds since 1970. */
  writtenAt: number;
  /** The run and the step that wrote; absent if it was no run. */
  run?: { workflowId: string; runId: string; step: string };
  /** This version says that there is nothing any more. */
  deleted?: true;
}

/** A version with its content. */
export interface MemoryContent extends MemoryVersion {
  /** JSON in canonical form, if it was written as JSON; absent if deleted. */
  text?: string;
}

/** What is said with a write. */
export interface MemoryWriteOptions {
  /** Why; goes into the history. At most 1,000 characters. */
  reason: string;
  /** Who writes; goes into the history. At most 1,000 characters. @default the agent's name, or the `actor` of the store */
  actor?: string;
  /** Write only if this is the `sha256` of what is there; `null`: only if nothing is. @default whatever is there */
  expectedSha?: string | null;
}

/**
 * What is remembered under one key. A path is like that of a file, `notes/2026/plan.txt`: at most 500 characters, no
 * `.` or `..`, no `\`, upper and lower case told apart. A content has at most 1,000,000 bytes.
 *
 * Inside a run each method is a step: recorded, and answered from the record after a restart.
 *
 * Every method throws `MemoryPathError` for a path that cannot be, and `BlobStoreError` if the store cannot be reached; in
 * a run, after it was tried for ten minutes.
 */
export interface Memory {
  /** What was written as JSON, or `undefined` if there is nothing. */
  readJson<T = unknown>(path: string): Promise<T | undefined>;
  /** The text, or the canonical JSON, or `undefined` if there is nothing. */
  readText(path: string): Promise<string | undefined>;
  /** The newest version, for its `sha256`, or `undefined` if there is nothing. */
  read(path: string): Promise<MemoryContent | undefined>;
  /** One version, also a deletion, or `undefined` if there is none of that number. */
  readAt(path: string, version: number): Promise<MemoryContent | undefined>;
  /**
   * Writes plain JSON as the next version.
   * @throws NotRecordableError if JSON would change it, naming the place; PayloadTooLargeError; ConcurrencyError if it is
   *   not `expectedSha` that is there; DeclarationError without a reason or an actor
   */
  writeJson(path: string, value: unknown, options: MemoryWriteOptions): Promise<MemoryVersion>;
  /** Writes a text as the next version. @throws what `writeJson` throws */
  writeText(path: string, text: string, options: MemoryWriteOptions): Promise<MemoryVersion>;
  /**
   * Reads, changes and writes, again from the start if another was faster: what two writers add at once is both kept.
   * @param change what to write for what is there; called again each time
   * @throws what `writeJson` throws; ConcurrencyError once others were faster 20 times
   */
  updateJson<T>(
    path: string,
    change: (current: T | undefined) => T,
    options: Omit<MemoryWriteOptions, 'expectedSha'>,
  ): Promise<MemoryVersion>;
  /** Has it read as if there were nothing; the history stays. `undefined`: there was nothing. @throws ConcurrencyError */
  delete(path: string, options: MemoryWriteOptions): Promise<MemoryVersion | undefined>;
  /** The paths at which there is something, sorted. @param prefix only those that begin with it, such as `notes/` */
  list(prefix?: string): Promise<string[]>;
  /** All versions, newest first, deletions too. @param limit at most so many @default all */
  history(path: string, options?: { limit?: number }): Promise<MemoryVersion[]>;
  /**
   * A list of items that many runs add to, kept at the path `conversations/<id>`.
   * @param id 1 to 300 characters that a path may have @default 'main'
   */
  conversation<Item = unknown>(id?: string): Conversation<Item>;
}
