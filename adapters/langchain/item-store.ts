import {
  BaseStore,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchOperation,
} from '@langchain/langgraph';
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { sha256 } from '../../src/blobs/sha256.ts';
import { assertKnownOptions } from '../../src/known-options.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import type { KeptItem, MemoryItems } from '../../src/memory/items.ts';
import type { MemoryStore } from '../../src/memory/memory-store.ts';
import { storeInRun, storeInStep } from '../../src/memory/run-memory.ts';
import { patchMethod } from '../patch-method.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import { plainJson } from '../plain-json.ts';
import { isInMemoryStore, useInLoop } from './in-memory-store.ts';
import { hasFields, matches } from './item-filters.ts';
import { currentBody } from './step-body.ts';

/** Where items are kept. */
export interface MemoryItemStoreOptions {
  /** Key of memory under which the items are: any text of 1 to 1,000 characters. @default 'langgraph-store' */
  memoryKey?: string;
  /** Where it is kept outside of runs; a run uses its worker's `blobs`. */
  store?: MemoryStore;
}

const OPTIONS = new Set(['memoryKey', 'store']);

/**
 * Keeps items in memory, by namespace and key: `graph.compile({ store: new MemoryItemStore() })`. In a run each use is a
 * step; in the body of a tool it is part of that step.
 *
 * In a run, a put or a delete of an item that others have changed since the run read it throws `ConcurrencyError`. Outside
 * of runs the last one to write counts. Values are what JSON makes of them. There is no semantic search.
 */
export class MemoryItemStore extends BaseStore {
  readonly memoryKey: string;
  readonly #store: MemoryStore | undefined;
  /** The versions that runs read and wrote, by loop. */
  readonly #known = perLoop(() => new Map<string, number>());
  /** How often the body of a tool has used it. */
  readonly #uses = new WeakMap<object, number>();

  /** @throws DeclarationError for an option that does not exist */
  constructor(options: MemoryItemStoreOptions = {}) {
    assertKnownOptions(options, OPTIONS, 'Cannot keep items');
    super();
    this.memoryKey = options.memoryKey ?? 'langgraph-store';
    this.#store = options.store;
  }

  /** Reads see what was there before; of two puts of the same item the last one counts. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    for (const operation of operations) assertOperation(operation);
    const results: unknown[] = await Promise.all(
      operations.map(async (each) => ('value' in each ? undefined : await this.#read(each))),
    );
    const puts = new Map<string, PutOperation>();
    for (const each of operations) if ('value' in each) puts.set(nameOf(each.namespace, each.key), each);
    await Promise.all([...puts.values()].map(async (each) => await this.#put(each)));
    return results as OperationResults<Op>;
  }

  /** One operation, where it is asked: LangGraph's batches would do it apart from the code that waits for it. @internal */
  async only(operation: Operation): Promise<unknown> {
    return (await this.batch([operation]))[0];
  }

  async #read(operation: Exclude<Operation, PutOperation>): Promise<unknown> {
    if ('key' in operation) return await this.#get(operation.namespace, operation.key);
    if ('namespacePrefix' in operation) return await this.#search(operation);
    return await this.#namespaces(operation);
  }

  async #get(namespace: string[], key: string): Promise<Item | null> {
    const { item, version } = await this.#items().get(namespace, key);
    this.#knows(namespace, key, version);
    return item ? itemOf(item) : null;
  }

  async #search({ namespacePrefix, filter = {}, limit = 10, offset = 0 }: SearchOperation): Promise<Item[]> {
    const found = await this.#items().list(namespacePrefix, { filter, limit, offset }, (items) =>
      items.filter(({ value }) => hasFields(value, filter)).slice(offset, offset + limit),
    );
    for (const { namespace, key, version } of found) this.#knows(namespace, key, version);
    return found.map((item) => ({ ...itemOf(item), score: undefined }));
  }

  async #namespaces(asked: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset } = asked;
    const request = { namespaces: matchConditions, maxDepth, limit, offset };
    return await this.#items().list([], request, (items) => {
      const all = items
        .map(({ namespace }) => namespace)
        .filter((namespace) => matchConditions.every((condition) => matches(namespace, condition)))
        .map((namespace) => JSON.stringify(namespace.slice(0, maxDepth)));
      const sorted = [...new Set(all)]
        .map((text) => JSON.parse(text) as string[])
        .toSorted((a, b) => a.join(':').localeCompare(b.join(':')));
      return sorted.slice(offset, offset + (limit ?? Infinity));
    });
  }

  async #put({ namespace, key, value }: PutOperation): Promise<void> {
    const plain = value === null ? null : plainJson(value);
    const use = JSON.stringify([namespace, key, plain]);
    const known = this.#seen()?.get(nameOf(namespace, key));
    const { version } = await this.#items(use).put(namespace, key, plain, known);
    this.#knows(namespace, key, version);
  }

  #knows(namespace: readonly string[], key: string, version: number): void {
    this.#seen()?.set(nameOf(namespace, key), version);
  }

  #seen(): Map<string, number> | undefined {
    const { loop } = currentPosition() ?? currentBody()?.position ?? {};
    return loop && this.#known(loop);
  }

  /** @param use what is written, so that another attempt of a tool's body writes it once */
  #items(use = ''): MemoryItems {
    if (currentPosition()) {
      const { store, user } = storeInRun(this.memoryKey);
      return store.itemsOf(this.memoryKey, user);
    }
    const body = currentBody();
    if (body) {
      const { loop, scope } = body.position;
      const count = (this.#uses.get(body) ?? 0) + 1;
      this.#uses.set(body, count);
      const id = `${loop.chain}:${scope}/${count}/${sha256(use)}`;
      const { store, user } = storeInStep(loop, this.memoryKey, { id, since: 0 });
      // The body may have run before, and further: it is to see what it saw then.
      const isLater = (step: string) =>
        step.startsWith(`${scope}/`) && Number(step.slice(scope.length + 1).split('/')[0]) > count;
      return store.itemsOf(this.memoryKey, { ...user, isLater });
    }
    if (this.#store) return this.#store.itemsOf(this.memoryKey, this.#store.user());
    throw new DeclarationError(
      'Cannot use this store outside a run, or in the body of a step: pass { store: new MemoryStore(new FileStore(folder)) }, or another store over the blobs that the worker has.',
    );
  }
}

function assertOperation(operation: Operation): void {
  const { namespace, namespacePrefix, query } = operation as Partial<PutOperation & SearchOperation>;
  const labels: unknown[] = namespace ?? namespacePrefix ?? [];
  if (!labels.every((label) => typeof label === 'string' && label !== ''))
    throw new DeclarationError(`Cannot use a namespace of items that has ${JSON.stringify(labels)} in it.`);
  if (query !== undefined)
    throw new UnsupportedError(
      'Cannot search items by a "query": this store keeps no embeddings. Search by "filter", or use a store that has an index.',
    );
}

function itemOf({ namespace, key, value, createdAt, updatedAt }: KeptItem): Item {
  const times = { createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
  return { namespace, key, value: value as Item['value'], ...times };
}

function nameOf(namespace: readonly string[], key: string): string {
  return JSON.stringify([namespace, key]);
}

/** Instruments LangGraph's batches, through which a graph uses its store: each use is asked for by itself. */
export function instrumentBatches(base: object): boolean {
  return patchMethod(base, 'enqueueOperation', (original) => {
    return function (this: { store: unknown }, operation: never) {
      const { store: own } = this;
      if (own instanceof MemoryItemStore) return own.only(operation);
      return (isInMemoryStore(own) && useInLoop(own, operation)) || original.call(this, operation);
    };
  });
}
