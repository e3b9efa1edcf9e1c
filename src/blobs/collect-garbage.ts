/** Blobs that nothing refers to any more: of runs that the server has forgotten. */
import type { Client } from '@temporalio/client';
import type { Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import type { BlobEntry, BlobStore } from './blob-store.ts';
import { namespacePrefix, ownerOf, readersOf } from './run-blobs.ts';

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
 * it. Memory and cached answers of tools are never touched. Run it now and then, from one process.
 */
export async function collectBlobs(
  client: Client,
  blobs: BlobStore,
  { olderThan = '1 day', dryRun = false }: CollectOptions = {},
): Promise<Collected> {
  const { namespace } = client.options;
  const before = Date.now() - msToNumber(olderThan);
  const collected: Collected = { blobs: 0, bytes: 0 };
  for await (const [prefix, entries] of byOwner(blobs, namespacePrefix(namespace))) {
    const owner = await ownerOf(blobs, prefix);
    if (!owner || entries.some(({ writtenAt }) => writtenAt > before)) continue;
    const folderOf = ({ key }: BlobEntry) => key.slice(prefix.length).split('/')[0]!;
    const needed = await knownChains(client, owner.workflowId);
    for (const folder of new Set(entries.map(folderOf)))
      if (await isRead(client, blobs, prefix, folder)) needed.add(folder);
    for (const entry of entries) {
      const folder = folderOf(entry);
      if (needed.has(folder) || (needed.size > 0 && isOfNoChain(folder))) continue;
      if (!dryRun) await blobs.delete(entry.key);
      collected.blobs++;
      collected.bytes += entry.size;
    }
  }
  return collected;
}

/** What belongs to the workflow id as a whole. */
function isOfNoChain(folder: string): boolean {
  return folder === 'owner' || folder === 'payloads' || folder === 'readers';
}

/** The entries of each owner together; a list is in the order of keys. */
async function* byOwner(blobs: BlobStore, space: string): AsyncIterable<[prefix: string, BlobEntry[]]> {
  let prefix = '';
  let entries: BlobEntry[] = [];
  for await (const entry of blobs.list(space)) {
    const own = entry.key.slice(0, entry.key.indexOf('/', space.length) + 1);
    if (own !== prefix && entries.length > 0) yield [prefix, entries];
    if (own !== prefix) entries = [];
    prefix = own;
    entries.push(entry);
  }
  if (entries.length > 0) yield [prefix, entries];
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
    if (first) chains.add(first);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'WorkflowNotFoundError') throw error;
  }
}

/** Whether a run that went on from this chain is known. */
async function isRead(client: Client, blobs: BlobStore, prefix: string, chain: string): Promise<boolean> {
  if (isOfNoChain(chain)) return false;
  for (const reader of await readersOf(blobs, prefix, chain))
    if ((await knownChains(client, reader)).size > 0) return true;
  return false;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
