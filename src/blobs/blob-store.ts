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
 * Keys are segments of lower-case letters, digits, `.`, `_`, `-` and `=`, joined by `/`; none begins with a dot. See `assertKey`.
 *
 * Every method throws `BlobNotFoundError` or `BlobStoreError`, nothing else.
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

const SEGMENT = /^[a-z0-9_=-][a-z0-9._=-]{0,199}$/;

/** Refuses a key that could leave the store, or that two file systems would take for different things. */
export function assertKey(key: string): void {
  if (key.length > 900 || !key.split('/').every((segment) => SEGMENT.test(segment)))
    throw new DeclarationError(`Not a key of a blob: ${JSON.stringify(key.slice(0, 200))}.`);
}
