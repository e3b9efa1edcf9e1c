// Runs as a process of its own: opens a store, and does what it is told with it, one call after the other.
import { openBlobs } from '../../src/blobs/open-blobs.ts';
import type { BlobStoreError } from '../../src/errors/index.ts';

export interface BlobCall {
  /** `writeOn` writes blobs of this size, each of one byte over and over, under the key as a folder, until it is killed. */
  method: 'get' | 'put' | 'putIfAbsent' | 'delete' | 'writeOn';
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
    reply = { result: await (method === 'writeOn' ? writeOn(key, bytes!) : store[method](key, bytes!)) };
  } catch (error) {
    const { name, message, retryable } = error as BlobStoreError;
    reply = { error: { name, message, retryable } };
  }
  process.send!(reply);
}

async function writeOn(folder: string, bytes: Uint8Array): Promise<never> {
  for (let round = 0; ; round++) {
    const value = bytes.fill(round);
    await store.put(`${folder}/again`, value);
    await store.putIfAbsent(`${folder}/fresh`, value);
    await store.delete(`${folder}/fresh`);
  }
}
