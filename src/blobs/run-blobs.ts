/** Where the blobs of a run are: together by workflow id and chain, each named by what it holds. */
import { BlobNotFoundError, DeclarationError } from '../errors/index.ts';
import type { BlobStore } from './blob-store.ts';
import { sha256 } from './sha256.ts';

/** The folder of what belongs to a workflow id, and to no chain that is known as it is written. */
export const PAYLOADS = 'payloads';

/** The folder of notes about who reads what. */
export const READERS = 'readers';

/** Not a folder, but what says whose all others are. */
export const OWNER = 'owner';

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
    return JSON.parse(new TextDecoder().decode(await blobs.get(`${prefix}${OWNER}`))) as RunOwner;
  } catch (error) {
    if (error instanceof BlobNotFoundError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The folder of a chain. */
export function chainFolder(owner: RunOwner, chain: string): string {
  return `${ownerPrefix(owner)}${chain}`;
}

/** Notes that a run goes on from others, so that what is in their folders stays as long as it does. */
export async function noteReader(
  blobs: BlobStore,
  folders: readonly string[],
  workflowId: string,
): Promise<void> {
  for (const path of new Set(folders)) {
    const prefix = path.slice(0, path.lastIndexOf('/') + 1);
    const chain = path.slice(prefix.length);
    const note = new TextEncoder().encode(JSON.stringify({ workflowId }));
    await blobs.put(`${prefix}${READERS}/${chain}/${sha256(workflowId)}`, note);
  }
}

/** Workflow ids of the runs that went on from a chain. */
export async function readersOf(blobs: BlobStore, prefix: string, chain: string): Promise<string[]> {
  const readers: string[] = [];
  for await (const { key } of blobs.list(`${prefix}${READERS}/${chain}/`)) {
    const { workflowId } = JSON.parse(new TextDecoder().decode(await blobs.get(key))) as RunOwner;
    readers.push(workflowId);
  }
  return readers;
}

/**
 * Keeps bytes under their hash: the same bytes are one blob within a folder.
 * @param folder the first run id of a chain, or `PAYLOADS`
 */
export async function keepBytes(
  blobs: BlobStore,
  owner: RunOwner,
  folder: string,
  bytes: Uint8Array,
): Promise<string> {
  // Whose it is comes first, so that `collectBlobs` finds that whatever happens next.
  await tellOwner(blobs, owner);
  const key = `${chainFolder(owner, folder)}/${sha256(bytes)}`;
  // Written again, even if it is there, what is of no chain is as young as its last use.
  if (folder === PAYLOADS) await blobs.put(key, bytes);
  else await blobs.putIfAbsent(key, bytes);
  return key;
}

/** When each owner was last noted, by store and prefix. */
const told = new WeakMap<BlobStore, Map<string, number>>();
const TOLD_AT_MOST = 10_000;
/** Well below the age at which `collectBlobs` takes a note away. */
const TOLD_FOR_MS = 3_600_000;

/** Notes whose the blobs under a prefix are; once an hour, since an object store is asked for each. */
export async function tellOwner(blobs: BlobStore, { namespace, workflowId }: RunOwner): Promise<void> {
  const prefix = ownerPrefix({ namespace, workflowId });
  const known = told.get(blobs) ?? new Map<string, number>();
  if (Date.now() - (known.get(prefix) ?? 0) < TOLD_FOR_MS) return;
  const owner = JSON.stringify({ namespace, workflowId });
  await blobs.putIfAbsent(`${prefix}${OWNER}`, new TextEncoder().encode(owner));
  if (known.size >= TOLD_AT_MOST) known.clear();
  told.set(blobs, known.set(prefix, Date.now()));
}

const OF_A_RUN = /^runs\/[0-9a-f]{64}\/[0-9a-f]{64}\/[0-9a-z-]{1,64}\/[0-9a-f]{64}$/;

/** @throws BlobNotFoundError that says what to look at */
export async function bytesAt(blobs: BlobStore, key: string): Promise<Uint8Array> {
  // Whoever can write a payload could else have a worker read what is another's, such as memory.
  if (!OF_A_RUN.test(key))
    throw new DeclarationError(`Not a blob of a run: ${JSON.stringify(key.slice(0, 200))}.`);
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
