/** The official suite of LangGraph for checkpointers, over memory in files. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { validate } from '@langchain/langgraph-checkpoint-validation';
import { MemoryCheckpointSaver } from '../../../adapters/langchain/saver.ts';
import { FileStore, MemoryStore } from '../../../src/index.ts';

// Vitest's, for which the suite is written, has it.
const anyExpect = expect as unknown as { soft?: unknown };
anyExpect.soft ??= expect;

validate({
  checkpointerName: 'MemoryCheckpointSaver',
  createCheckpointer: () => {
    const blobs = new FileStore(mkdtempSync(join(tmpdir(), 'threads-')));
    return new MemoryCheckpointSaver({ store: new MemoryStore(blobs, { actor: 'test' }) });
  },
});
