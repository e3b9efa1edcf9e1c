// Runs as a process of its own: opens a store, and does what it is told with it, one call after the other.
import { openBlobs } from '../../src/blobs/open-blobs.ts';
import type { BlobStoreError } from '../../src/errors/index.ts';

export interface BlobCall {
  method: 'get' | 'put' | 'putIfAbsent' | 'delete';
  key: string;
  bytes?: Uint8Array;
}

export interface BlobReply {
  result?: unknown;
  error?: { name: string; message: string; retryable: boolean };
}

const store = openBlobs(process.env['KIT_BLOBS']!);
const userId = Number(process.env['KIT_USER']);
if (userId && process.getuid!() === 0) process.setuid!(userId);

process.on('message', (call: BlobCall) => void answer(call));
process.on('disconnect', () => process.exit());
process.send!({});

async function answer({ method, key, bytes }: BlobCall): Promise<void> {
  let reply: BlobReply;
  try {
    reply = { result: await store[method](key, bytes!) };
  } catch (error) {
    const { name, message, retryable } = error as BlobStoreError;
    reply = { error: { name, message, retryable } };
  }
  process.send!(reply);
}
