/** Where large and lasting things are kept: a few operations on whole blobs, by key. */
import { DeclarationError } from '../errors/index.ts';

/** What a list tells of a blob. */
export interface BlobEntry {
  key: string;
  /** Bytes. */
  size: number;
  /** When it was last written; milliseconds since 1970, by the store's clock. */
  writtenAt: number;
}

/**
 * A store of blobs. Writes are whole or not at all, also when the process dies in one, and what was written can be read
 * at once by everyone. `putIfAbsent` is all that concurrent writers need.
 *
 * Keys are segments of lower-case letters, digits, `.`, `_`, `-` and `=`, joined by `/`; none begins or ends with a dot.
 * No key may be another one's folder, as `a` is of `a/b`: files cannot hold both.
 *
 * Every method throws `DeclarationError` for what is no key, else `BlobNotFoundError` or `BlobStoreError`, nothing else.
 * After a `BlobStoreError` of a write, the blob may be there or not.
 */
export interface BlobStore {
  /** The URL it was opened by, without credentials; for messages. */
  readonly url: string;
  /** @throws BlobNotFoundError if there is none */
  get(key: string): Promise<Uint8Array>;
  /** Writes, over what may be there. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Writes if there is nothing; answers whether it did. Of several at once one wins, and the others answer `false`. */
  putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean>;
  /** Every blob whose key begins with `prefix`, which ends with `/` or is empty; in the order of their keys. */
  list(prefix: string): AsyncIterable<BlobEntry>;
  /** Removes a blob; that there is none is no error. */
  delete(key: string): Promise<void>;
}

const SEGMENT = /^[a-z0-9_=-]([a-z0-9._=-]{0,198}[a-z0-9_=-])?$/;

/** Longest key. S3 takes 1,024 bytes, which leaves room for the prefix of a store. */
const LONGEST = 900;

/** Whether a text is a key of a blob: what could leave the store, or be two things to two file systems, is none. */
export function isKey(text: string): boolean {
  return text.length <= LONGEST && text.split('/').every((segment) => SEGMENT.test(segment));
}

/** Refuses what is no key. */
export function assertKey(key: string): void {
  if (typeof key === 'string' && isKey(key)) return;
  throw new DeclarationError(
    `Cannot use ${quoted(key)} as the key of a blob: a key has segments of a-z, 0-9 and . _ - =, joined by /.`,
  );
}

/** Refuses what is neither empty nor a key with a `/` after it. */
export function assertPrefix(prefix: string): void {
  if (prefix === '' || (typeof prefix === 'string' && prefix.endsWith('/') && isKey(prefix.slice(0, -1))))
    return;
  throw new DeclarationError(
    `Cannot list blobs under ${quoted(prefix)}: a prefix is empty, or a key and a / after it.`,
  );
}

function quoted(text: unknown): string {
  return typeof text === 'string' ? JSON.stringify(text.slice(0, 200)) : `a ${typeof text}`;
}
