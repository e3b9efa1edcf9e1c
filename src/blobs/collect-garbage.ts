/** Blobs that nothing refers to any more: of runs that the server has forgotten. */
import type { Client } from '@temporalio/client';
import type { Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { UnsupportedError } from '../errors/index.ts';
import type { BlobEntry, BlobStore } from './blob-store.ts';
import { namespacePrefix, OWNER, ownerOf, PAYLOADS, READERS, readersOf } from './run-blobs.ts';

/** What may be removed. */
export interface CollectOptions {
  /**
   * Younger blobs stay: a client writes a large input before the server knows of the run. @default '1 day'
   */
  olderThan?: Duration;
  /** Only count. @default false */
  dryRun?: boolean;
}

/** What was removed, or would be. */
export interface Collected {
  blobs: number;
  bytes: number;
}

/**
 * Removes what runs of the client's namespace kept, once the server has forgotten every run that could read it: all runs
 * of the workflow id, or, of an id that is used again, the chain that kept it; and those that were resumed or forked from
 * it. Memory and cached answers of tools are never touched, but for those of `cache: 'run'`. Run it now and then, from one
 * process; not on a store that two servers with a namespace of the same name share, nor where schedules start agents with
 * inputs of 1 MiB or more.
 * @throws UnsupportedError if the server is too old to tell which runs belong together; whatever client and store throw
 */
export async function collectBlobs(
  client: Client,
  blobs: BlobStore,
  { olderThan = '1 day', dryRun = false }: CollectOptions = {},
): Promise<Collected> {
  const { namespace } = client.options;
  const before = Date.now() - msToNumber(olderThan);
  const collected: Collected = { blobs: 0, bytes: 0 };
  for await (const [prefix, folders] of byOwner(blobs, namespacePrefix(namespace))) {
    const owner = await ownerOf(blobs, prefix);
    if (!owner) continue;
    const needed = await neededFolders(client, blobs, prefix, owner.workflowId, folders);
    let kept = false;
    for (const folder of folders.filter((each) => each !== OWNER)) {
      // Read once more: a client may just have written again what was old.
      const entries = needed.has(folder) ? [] : await listed(blobs, `${prefix}${folder}/`);
      const isYoung = entries.some(({ writtenAt }) => writtenAt > before);
      kept ||= entries.length === 0 || isYoung;
      if (isYoung) continue;
      for (const { key, size } of entries) {
        if (!dryRun) await blobs.delete(key);
        collected.blobs++;
        collected.bytes += size;
      }
    }
    // Whose they were goes last: without that, what is left would never be found again.
    if (!kept && !dryRun) await blobs.delete(`${prefix}${OWNER}`);
  }
  return collected;
}

/** The folders of each owner, in the order of their names; a list is in the order of keys. */
async function* byOwner(blobs: BlobStore, space: string): AsyncIterable<[prefix: string, folders: string[]]> {
  let prefix = '';
  let folders = new Set<string>();
  for await (const { key } of blobs.list(space)) {
    const own = key.slice(0, key.indexOf('/', space.length) + 1);
    if (own !== prefix && folders.size > 0) yield [prefix, [...folders]];
    if (own !== prefix) folders = new Set();
    prefix = own;
    folders.add(key.slice(own.length).split('/')[0]!);
  }
  if (folders.size > 0) yield [prefix, [...folders]];
}

/** What a run that the server knows may still read. */
async function neededFolders(
  client: Client,
  blobs: BlobStore,
  prefix: string,
  workflowId: string,
  folders: readonly string[],
): Promise<Set<string>> {
  const needed = await knownChains(client, workflowId);
  for (const folder of folders) {
    if (needed.has(folder) || folder === OWNER || folder === PAYLOADS || folder === READERS) continue;
    for (const reader of await readersOf(blobs, prefix, folder))
      if ((await knownChains(client, reader)).size > 0) needed.add(folder);
  }
  if (needed.size > 0) needed.add(READERS).add(PAYLOADS);
  // What a child gave or was given is in its parent's history too.
  for (let slash = workflowId.lastIndexOf('/'); slash > 0; slash = workflowId.lastIndexOf('/', slash - 1))
    if ((await knownChains(client, workflowId.slice(0, slash))).size > 0) needed.add(PAYLOADS);
  return needed;
}

/** First run ids of all chains of a workflow id that the server knows. */
async function knownChains(client: Client, workflowId: string): Promise<Set<string>> {
  const chains = new Set<string>();
  const runs = client.workflow.list({ query: `WorkflowId = ${quoted(workflowId)}` });
  for await (const { runId } of runs) await addChain(client, workflowId, runId, chains);
  // What is listed may be a little late.
  await addChain(client, workflowId, undefined, chains);
  return chains;
}

async function addChain(
  client: Client,
  workflowId: string,
  runId: string | undefined,
  chains: Set<string>,
): Promise<void> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    const first = raw.workflowExecutionInfo?.firstRunId;
    if (!first)
      throw new UnsupportedError('Cannot collect blobs: this server does not tell the first run of a chain.');
    chains.add(first);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'WorkflowNotFoundError') throw error;
  }
}

async function listed(blobs: BlobStore, prefix: string): Promise<BlobEntry[]> {
  const entries: BlobEntry[] = [];
  for await (const entry of blobs.list(prefix)) entries.push(entry);
  return entries;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
