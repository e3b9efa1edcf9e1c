/** Answers of tools that are used again: by other runs, and by other calls of the same one. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadedDataConverter } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { withoutBlobCodec } from '../blobs/blob-codec.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { chainFolder, tellOwner } from '../blobs/run-blobs.ts';
import { open, seal } from '../blobs/sealed.ts';
import { sha256 } from '../blobs/sha256.ts';
import { DeclarationError } from '../errors/index.ts';
import { digest } from '../loop/fingerprint.ts';
import { assertRecordable } from '../loop/recordable.ts';
import type { CachedFrom } from '../protocol/step.ts';
import type { Tool } from './tool-options.ts';

/** Who calls, and how values are written for it. */
export interface CacheCaller {
  namespace: string;
  workflowId: string;
  runId: string;
  /** First run id of its chain. */
  chain: string;
  converter: LoadedDataConverter;
  /** The arguments as they came. */
  input: unknown;
  /** Fires when nobody wants the answer any more. */
  signal: AbortSignal;
}

/** An answer, and whose it is if another call's. */
export interface CachedAnswer {
  value: unknown;
  cached?: CachedFrom;
}

/** How long a store may take before the body runs, and after it. Milliseconds. */
const STORE_MS = 5_000;

interface Entry extends CachedFrom {
  value?: unknown;
}

export class ToolCache {
  readonly #blobs: BlobStore;
  /** Calls of this process under way, by key. */
  readonly #running = new Map<string, Promise<Entry>>();

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /**
   * The answer of an equal call, or what the body gives. Equal calls in this process run the body once. A failure is
   * nobody else's, and a store that cannot be reached only means that the body runs.
   */
  async through(
    tool: Tool<any, any, any>,
    args: unknown,
    caller: CacheCaller,
    body: () => Promise<unknown>,
  ): Promise<CachedAnswer> {
    const key = await this.#keyOf(tool, args, caller);
    for (;;) {
      const running = this.#running.get(key);
      if (!running) break;
      // One that fails is not this call's failure: it may have another signal.
      const entry = await running.catch(() => undefined);
      if (entry) return usedAgain(entry);
    }
    let ran = false;
    const answer = this.#readOrRun(key, tool, caller, async () => {
      ran = true;
      return await body();
    });
    this.#running.set(key, answer);
    const forget = () => this.#forget(key, answer);
    // A body that heeds no signal must not hold up the calls that come after it.
    caller.signal.addEventListener('abort', forget, { once: true });
    answer.then(forget, forget);
    const entry = await answer;
    return ran ? { value: entry.value } : usedAgain(entry);
  }

  /**
   * Where the answer of a call is kept: by the tool's name, schema, body and version, its arguments, and what else the rule
   * says. What the body calls is not seen.
   */
  async #keyOf(
    { options, jsonSchema }: Tool<any, any, any>,
    args: unknown,
    { namespace, workflowId, chain, input }: CacheCaller,
  ): Promise<string> {
    const { name, version, execute, cache } = options;
    const rule = typeof cache === 'object' ? cache : undefined;
    const own: unknown = await rule?.key?.(args);
    if (rule?.key && own === undefined)
      throw new DeclarationError(
        `Cannot use the cache of tool ${name}: its "key" is undefined, so that nobody knows whose answer it would be. Have it give what the answer depends on beside the arguments.`,
      );
    assertRecordable(own, `The cache key of tool ${name}`);
    const body = String(execute);
    const call = { name, version, schema: jsonSchema, body, input, args, cacheVersion: rule?.version, own };
    if (cache === 'run') return `${chainFolder({ namespace, workflowId }, chain)}/cache-${digest(call)}`;
    return `cache/${sha256(namespace)}/${name.toLowerCase()}/${digest(call)}`;
  }

  async #readOrRun(
    key: string,
    tool: Tool<any, any, any>,
    caller: CacheCaller,
    body: () => Promise<unknown>,
  ): Promise<Entry> {
    const found = await soon(this.#read(key, tool, caller));
    return found ?? (await this.#run(key, caller, body));
  }

  #forget(key: string, answer: Promise<Entry>): void {
    if (this.#running.get(key) === answer) this.#running.delete(key);
  }

  async #run(key: string, caller: CacheCaller, body: () => Promise<unknown>): Promise<Entry> {
    const began = Date.now();
    const value = await body();
    const { workflowId, runId } = caller;
    const entry: Entry = { value, workflowId, runId, at: began, durationMs: Date.now() - began };
    await soon(this.#write(key, entry, caller));
    return entry;
  }

  async #write(key: string, entry: Entry, { namespace, workflowId, converter }: CacheCaller): Promise<void> {
    try {
      if (key.startsWith('runs/')) await tellOwner(this.#blobs, { namespace, workflowId });
      await this.#blobs.put(key, await seal(entry, withoutBlobCodec(converter)));
    } catch {
      // The next call runs the body again.
    }
  }

  async #read(
    key: string,
    { options: { cache } }: Tool<any, any, any>,
    { converter }: CacheCaller,
  ): Promise<Entry | undefined> {
    try {
      const entry = await open<Entry>(await this.#blobs.get(key), withoutBlobCodec(converter));
      const ttl = typeof cache === 'object' ? cache.ttl : undefined;
      return ttl === undefined || Date.now() - entry.at < msToNumber(ttl) ? entry : undefined;
    } catch {
      // There is none, it cannot be read, or it is of another key of encryption.
      return undefined;
    }
  }
}

function usedAgain({ value, ...cached }: Entry): CachedAnswer {
  return { value, cached };
}

/** A store that is slow must not cost a call its time. */
async function soon<T>(use: Promise<T>): Promise<T | undefined> {
  return await Promise.race([use, delay(STORE_MS, undefined, { ref: false })]);
}
