import type { MemoryStore } from '../memory/memory-store.ts';
import type { ToolCache } from '../tools/tool-cache.ts';
import type { AnswerBlobs } from './answer-blobs.ts';
import type { BlobStore } from './blob-store.ts';

/** What a worker keeps outside of histories; without a blob store, nothing. */
export interface RunStorage {
  blobs?: BlobStore;
  /** Keeps large answers. */
  answers?: AnswerBlobs;
  /** Keeps answers of tools that are used again. */
  toolCache?: ToolCache;
  /** Keeps what outlives runs. Set as the worker begins to run. */
  memory?: MemoryStore;
  /** The largest payload it can send, in bytes; `Infinity` if larger ones are kept outside the history. */
  maxPayloadBytes: number;
}
