/** Where the blobs of a run are: together by workflow id and chain, each named by what it holds. */
import { createHash } from 'node:crypto';
import { BlobNotFoundError } from '../errors/index.ts';
import type { BlobStore } from './blob-store.ts';

/** Whose blobs they are. */
export interface RunOwner {
  namespace: string;
  workflowId: string;
}

/** `runs/<namespace>/`, hashed: names hold anything. */
export function namespacePrefix(namespace: string): string {
  return `runs/${sha256(namespace)}/`;
}

/** `runs/<namespace>/<workflow id>/`, both hashed. */
function ownerPrefix({ namespace, workflowId }: RunOwner): string {
  return `${namespacePrefix(namespace)}${sha256(workflowId)}/`;
}

/** Whose blobs are under a prefix; `undefined` if that cannot be read. */
export async function ownerOf(blobs: BlobStore, prefix: string): Promise<RunOwner | undefined> {
  try {
    return JSON.parse(new TextDecoder().decode(await blobs.get(`${prefix}owner`))) as RunOwner;
  } catch (error) {
    if (error instanceof BlobNotFoundError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Notes that a run goes on from others, so that what they kept stays as long as it does. */
export async function noteReader(
  blobs: BlobStore,
  keys: readonly string[],
  workflowId: string,
): Promise<void> {
  const chains = new Set(keys.map((key) => key.slice(0, key.lastIndexOf('/'))));
  for (const path of chains) {
    const prefix = path.slice(0, path.lastIndexOf('/') + 1);
    const chain = path.slice(prefix.length);
    const note = new TextEncoder().encode(JSON.stringify({ workflowId }));
    await blobs.put(`${prefix}readers/${chain}/${sha256(workflowId)}`, note);
  }
}

/** Workflow ids of the runs that went on from a chain. */
export async function readersOf(blobs: BlobStore, prefix: string, chain: string): Promise<string[]> {
  const readers: string[] = [];
  for await (const { key } of blobs.list(`${prefix}readers/${chain}/`)) {
    const { workflowId } = JSON.parse(new TextDecoder().decode(await blobs.get(key))) as RunOwner;
    readers.push(workflowId);
  }
  return readers;
}

/**
 * Keeps bytes under their hash: the same bytes are one blob within a folder.
 * @param folder the first run id of a chain, or `payloads`
 */
export async function keepBytes(
  blobs: BlobStore,
  owner: RunOwner,
  folder: string,
  bytes: Uint8Array,
): Promise<string> {
  const prefix = ownerPrefix(owner);
  const key = `${prefix}${folder}/${sha256(bytes)}`;
  // First, so that `collectBlobs` finds whose they are whatever happens next.
  await tellOwner(blobs, prefix, owner);
  await blobs.putIfAbsent(key, bytes);
  return key;
}

const told = new WeakMap<BlobStore, Set<string>>();
const TOLD_AT_MOST = 10_000;

/** Once a process and run: an object store is asked for each. */
async function tellOwner(
  blobs: BlobStore,
  prefix: string,
  { namespace, workflowId }: RunOwner,
): Promise<void> {
  const known = told.get(blobs) ?? new Set();
  if (known.has(prefix)) return;
  const owner = JSON.stringify({ namespace, workflowId });
  await blobs.putIfAbsent(`${prefix}owner`, new TextEncoder().encode(owner));
  if (known.size >= TOLD_AT_MOST) known.clear();
  told.set(blobs, known.add(prefix));
}

/** @throws BlobNotFoundError that says what to look at */
export async function bytesAt(blobs: BlobStore, key: string): Promise<Uint8Array> {
  try {
    return await blobs.get(key);
  } catch (error) {
    if (!(error instanceof BlobNotFoundError)) throw error;
    throw new BlobNotFoundError(
      `${error.message} A run refers to it: the worker that wrote it was given other "blobs", or it was removed.`,
      { cause: error },
    );
  }
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
