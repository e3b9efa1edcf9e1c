/** Which blob store a worker or a client uses. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DeclarationError } from '../errors/index.ts';
import type { BlobStore } from './blob-store.ts';
import { FileStore, fileStore } from './file-store.ts';

/** A store, or the URL of one: `file:///var/lib/agents`, `s3://bucket/prefix`. */
export type BlobsSetting = string | URL | BlobStore;

/**
 * Opens a store.
 * @throws DeclarationError for a URL that names none
 */
export function openBlobs(setting: BlobsSetting): BlobStore {
  if (typeof setting === 'object' && 'putIfAbsent' in setting) return setting;
  const url = typeof setting === 'string' ? URL.parse(setting) : setting;
  if (url?.protocol === 'file:') return fileStore(url);
  throw new DeclarationError(
    `Cannot open blobs ${JSON.stringify(String(setting))}: use file:///an/absolute/path or s3://bucket/prefix.`,
  );
}

/** Where blobs are kept by default: of the user who runs the process, whatever its working directory. */
export function defaultBlobs(): BlobStore {
  return new FileStore(join(homedir(), '.local', 'share', 'temporal-agents', 'blobs'));
}

/** Whether a server at this address is on this machine, so that all who speak to it have one disk. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(address);
}
