import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
} from '@langchain/langgraph';
import { DeclarationError } from '../../src/errors/index.ts';
import { assertKnownOptions } from '../../src/known-options.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import type { CheckpointThread } from '../../src/memory/checkpoint-thread.ts';
import type { CheckpointOf, KeptCheckpoint } from '../../src/memory/checkpoint.ts';
import type { MemoryStore } from '../../src/memory/memory-store.ts';
import { storeInRun } from '../../src/memory/run-memory.ts';
import type { User } from '../../src/memory/user.ts';
import {
  decodeCheckpoint,
  decodeWrites,
  encodeCheckpoint,
  encodeWrites,
  type Serde,
} from './checkpoint-codec.ts';

/** Where threads are kept. */
export interface MemoryCheckpointSaverOptions {
  /** Key of memory under which the threads are: any text of 1 to 1,000 characters. @default 'langgraph' */
  memoryKey?: string;
  /** Where it is kept outside of runs; a run uses its worker's `blobs`. */
  store?: MemoryStore;
  /** How values become bytes. @default LangGraph's */
  serde?: Serde;
}

type ListOptions = NonNullable<Parameters<BaseCheckpointSaver['list']>[1]>;

/** How an agent of a run uses its thread. */
interface RunPolicy {
  /** Told where the run goes on if another one has written to its thread meanwhile. @default the last one to write counts */
  onFork?: (thread: string) => void;
  /** If the agent fails, the thread stays as it was. */
  onlyWhole?: boolean;
}

const OPTIONS = new Set(['memoryKey', 'store', 'serde']);

/**
 * Keeps the state of graphs in memory, by thread: `graph.compile({ checkpointer: new MemoryCheckpointSaver() })`. The next
 * invocation with the same `thread_id` goes on from there, in whichever run and process.
 */
export class MemoryCheckpointSaver extends BaseCheckpointSaver {
  readonly memoryKey: string;
  /** How runs of an agent use it. @internal */
  inRun: RunPolicy = {};
  readonly #store: MemoryStore | undefined;

  /** @throws DeclarationError for an option that does not exist */
  constructor(options: MemoryCheckpointSaverOptions = {}) {
    assertKnownOptions(options, OPTIONS, 'Cannot keep threads');
    super(options.serde);
    this.memoryKey = options.memoryKey ?? 'langgraph';
    this.#store = options.store;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id: thread, checkpoint_ns: namespace = '' } = fieldsOf(config);
    if (thread === undefined) return undefined;
    const id = idOf(config);
    const kept = await this.thread(thread).read({ namespace, ...(id !== undefined && { id }) });
    return kept && (await this.decoded(thread, kept));
  }

  async *list(config: RunnableConfig, options: ListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id: thread, checkpoint_ns: namespace } = fieldsOf(config);
    const { before, filter } = options;
    const [id, beforeId] = [idOf(config), before && idOf(before)];
    const query = {
      ...(namespace !== undefined && { namespace }),
      ...(id !== undefined && { id }),
      ...(beforeId !== undefined && { before: beforeId }),
      ...(filter && { filter }),
    };
    let limit = options.limit ?? Infinity;
    for (const each of thread === undefined ? await this.#threads() : [thread]) {
      if (limit <= 0) return;
      const bounded = { ...query, ...(limit < Infinity && { limit }) };
      for (const kept of await this.thread(each).list(bounded)) {
        limit--;
        yield await this.decoded(each, kept);
      }
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: Record<string, string | number>,
  ): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns: namespace = '' } = fieldsOf(config);
    const thread = needed(thread_id, 'thread_id');
    const where = { namespace, parentId: idOf(config) };
    const change = await encodeCheckpoint(this.serde, where, checkpoint, metadata, Object.keys(newVersions));
    const { source, step } = metadata;
    await this.thread(thread).keep([change], { namespace, source, step });
    return {
      configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: checkpoint.id },
    };
  }

  async putWrites(
    config: RunnableConfig,
    writes: [string, unknown][],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    const { thread_id, checkpoint_ns: namespace = '', checkpoint_id } = fieldsOf(config);
    const thread = needed(thread_id, 'thread_id');
    const where = { namespace, id: needed(checkpoint_id, 'checkpoint_id') };
    const change = await encodeWrites(this.serde, where, writes, taskId, taskPath);
    await this.thread(thread).keep([change], { namespace, writes: writes.map(([channel]) => channel) });
  }

  /** Has the thread read as if it were not there; its versions stay in the history. */
  async deleteThread(threadId: string): Promise<void> {
    await this.thread(threadId).delete();
  }

  /** The thread in memory. @internal */
  thread(thread: string): CheckpointThread {
    const { store, user } = this.#used();
    return store.threadOf(this.memoryKey, thread, user);
  }

  /** The thread as code outside of runs reads it: what never changes needs no step. @internal */
  threadBeside(thread: string): CheckpointThread {
    const { store } = this.#used();
    return store.threadOf(this.memoryKey, thread, store.user());
  }

  /** A checkpoint as LangGraph has it. @internal */
  async decoded(thread: string, kept: KeptCheckpoint): Promise<CheckpointTuple> {
    const writesOf = async (of: CheckpointOf) => (await this.thread(thread).read(of))?.writes ?? [];
    return await decodeCheckpoint(this.serde, thread, kept, writesOf);
  }

  /** The writes of a checkpoint as tasks made them. @internal */
  async writesByTask({ writes }: KeptCheckpoint): ReturnType<typeof decodeWrites> {
    return await decodeWrites(this.serde, writes);
  }

  async #threads(): Promise<string[]> {
    const { store, user } = this.#used();
    return await store.threadsOf(this.memoryKey, user);
  }

  #used(): { store: MemoryStore; user: User } {
    if (currentPosition()) return storeInRun(this.memoryKey);
    if (this.#store) return { store: this.#store, user: this.#store.user() };
    throw new DeclarationError(
      'Cannot use this checkpointer outside a run: pass { store: new MemoryStore(new FileStore(folder)) }, or another store over the blobs that the worker has.',
    );
  }
}

/** What LangGraph says in a config of where it is. */
interface Fields {
  thread_id?: string;
  checkpoint_ns?: string;
  checkpoint_id?: string;
}

export function fieldsOf({ configurable = {} }: RunnableConfig): Fields {
  return configurable as Fields;
}

/** Which checkpoint a config is of, if it is of one. */
export function idOf(config: RunnableConfig): string | undefined {
  return fieldsOf(config).checkpoint_id || undefined;
}

function needed(value: string | undefined, field: string): string {
  if (value !== undefined) return value;
  throw new DeclarationError(
    `Cannot keep the state of a graph: give it a "${field}", invoke(input, { configurable: { ${field}: '…' } }).`,
  );
}
