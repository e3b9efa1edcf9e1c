/** A store of blobs by its URL. */
import { fileURLToPath } from 'node:url';
import { DeclarationError } from '../errors/index.ts';
import type { BlobStore } from './blob-store.ts';
import { FileStore } from './file-store.ts';
import { openS3 } from './s3-store.ts';
import { readS3Url } from './s3-url.ts';

/**
 * Opens the store of a URL: `file:///var/lib/agents`, or `s3://bucket/prefix`, which needs the package
 * `@aws-sdk/client-s3`. A store of your own is taken as it is. Nothing is read or written yet.
 *
 * @throws DeclarationError if the URL names no store
 */
export async function openBlobs(blobs: string | URL | BlobStore): Promise<BlobStore> {
  if (typeof blobs === 'object' && 'putIfAbsent' in blobs) return blobs;
  const given = String(blobs);
  // What cannot be read may hold credentials anywhere, and is not shown.
  if (!URL.canParse(given))
    throw refused('what is no URL', 'give file:///an/absolute/path or s3://bucket/prefix.');
  const url = new URL(given);
  switch (url.protocol) {
    case 'file:':
      return new FileStore(pathOf(url, given));
    case 's3:':
      return await openS3(readS3Url(url));
    default:
      throw refused(`a ${url.protocol} URL`, 'there are file:// and s3:// stores, or give one of your own.');
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
