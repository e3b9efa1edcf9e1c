import { randomUUID } from 'node:crypto';
import type { DataConverter, LoadedDataConverter } from '@temporalio/common';
import {
  isLoadedDataConverter,
  loadDataConverter,
} from '@temporalio/common/lib/internal-non-workflow/data-converter-helpers.js';
import { withoutBlobCodec } from '../blobs/blob-codec.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { Sealing } from '../blobs/sealed.ts';
import { assertKnownOptions } from '../known-options.ts';
import { CheckpointThread, threadNames } from './checkpoint-thread.ts';
import { ConversationHolder } from './conversation-holder.ts';
import { MemoryItems } from './items.ts';
import type { Memory } from './memory.ts';
import { assertMemoryKey } from './memory-path.ts';
import type { User } from './user.ts';
import { Versions } from './versions.ts';
import { VersionedMemory } from './versioned-memory.ts';

/** Whose memory it is, and how it is written. */
export interface MemoryStoreOptions {
  /** Memory of one namespace is not that of another; runs use Temporal's namespace. @default 'default' */
  namespace?: string;
  /** Who writes, if a write does not say. @default every write must say */
  actor?: string;
  /** Encodes all that is stored; give the client's and the workers', so that all can read it. @default JSON as it is */
  dataConverter?: DataConverter | LoadedDataConverter;
}

const OPTIONS = new Set<keyof MemoryStoreOptions>(['namespace', 'actor', 'dataConverter']);

/**
 * Memory that outlives runs, for code outside of them: a script, a server, a test. Inside a run use `memory()`.
 * Any number of processes may use one store at once.
 */
export class MemoryStore {
  readonly #blobs: BlobStore;
  readonly #namespace: string;
  readonly #actor: string | undefined;
  readonly #sealing: Sealing;

  /** @throws DeclarationError for an option that does not exist */
  constructor(blobs: BlobStore, options: MemoryStoreOptions = {}) {
    assertKnownOptions(options, OPTIONS, 'Cannot keep memory');
    const { namespace = 'default', actor, dataConverter } = options;
    this.#blobs = blobs;
    this.#namespace = namespace;
    this.#actor = actor;
    const converter = isLoadedDataConverter(dataConverter) ? dataConverter : loadDataConverter(dataConverter);
    this.#sealing = withoutBlobCodec(converter);
  }

  /**
   * The memory of one key: a customer, a team, a project. It exists as soon as something is written.
   * @param key any text of 1 to 1,000 characters; whoever knows it can read and write
   * @throws MemoryPathError for a key that cannot be
   */
  getOrCreate(key: string): Memory {
    // Every write of such code is another one.
    return this.of(key, this.user());
  }

  /** Code outside of runs. @internal */
  user(): User {
    return {
      actor: this.#actor,
      use: async (_use, act) => await act({ id: randomUUID(), since: Infinity }),
    };
  }

  /** The memory of one key as somebody uses it. @internal */
  of(key: string, user: User): Memory {
    return new VersionedMemory(this.#versions(key), user);
  }

  /** Who holds a conversation of a key. @internal */
  holderOf(key: string, conversation: string, user: User): ConversationHolder {
    return new ConversationHolder(this.#versions(key), user, conversation);
  }

  /** The checkpoints of a thread of a key. @internal */
  threadOf(key: string, thread: string, user: User): CheckpointThread {
    return new CheckpointThread(this.#versions(key), user, thread);
  }

  /** The names of the threads of a key. @internal */
  async threadsOf(key: string, user: User): Promise<string[]> {
    return await threadNames(this.#versions(key), user);
  }

  /** The items of a key. @internal */
  itemsOf(key: string, user: User): MemoryItems {
    return new MemoryItems(this.#versions(key), user);
  }

  #versions(key: string): Versions {
    assertMemoryKey(key);
    return new Versions(this.#blobs, this.#sealing, this.#namespace, key);
  }
}
