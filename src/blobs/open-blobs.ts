/** Which blob store a worker or a client uses. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeclarationError } from '../errors/index.ts';
import type { BlobStore } from './blob-store.ts';
import { FileStore } from './file-store.ts';
import { openS3 } from './s3-store.ts';
import { readS3Url } from './s3-url.ts';

/** A store, or the URL of one: `file:///var/lib/agents`, `s3://bucket/prefix`. */
export type BlobsSetting = string | URL | BlobStore;

/**
 * Opens a store. Nothing is read or written yet. A store of your own is taken as it is; one over S3 needs the package
 * `@aws-sdk/client-s3`.
 *
 * @throws DeclarationError for a URL that names none
 */
export function openBlobs(setting: BlobsSetting): BlobStore {
  if (typeof setting === 'object' && 'putIfAbsent' in setting) return setting;
  const given = String(setting);
  const url = URL.parse(given);
  switch (url?.protocol) {
    case 'file:':
      return new FileStore(pathOf(url, given));
    case 's3:':
      return openS3(readS3Url(url));
    default:
      // It is not shown: what cannot be read may hold credentials anywhere.
      throw refused(
        url ? `a ${url.protocol} URL` : 'what is no URL',
        'use file:///an/absolute/path or s3://bucket/prefix.',
      );
  }
}

/** A URL has no relative paths: it takes `file:blobs` for `/blobs`, and `file://blobs/x` for a folder of another host. */
function pathOf(url: URL, given: string): string {
  const absolute = given.toLowerCase().startsWith('file:///') || url.hostname === 'localhost';
  try {
    if (absolute && !url.search && !url.hash) return fileURLToPath(url);
  } catch {
    // Refused below: a part of it holds an encoded slash.
  }
  throw refused(`"${given}"`, 'it is not file:// and an absolute path, without ? and #.');
}

function refused(what: string, why: string): DeclarationError {
  return new DeclarationError(`Cannot open ${what} as a store of blobs: ${why}`);
}

/** Where blobs are kept by default: of the user who runs the process, whatever its working directory. */
export function defaultBlobs(): BlobStore {
  return new FileStore(join(homedir(), '.local', 'share', 'temporal-agents', 'blobs'));
}

/** Whether a server at this address is on this machine, so that all who speak to it have one disk. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(address);
}
