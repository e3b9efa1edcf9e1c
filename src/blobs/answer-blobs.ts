/** Large answers of steps: a run holds where they are, and only who builds its loop reads them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadedDataConverter } from '@temporalio/common';
import { AgentError } from '../errors/index.ts';
import type { AnswerBlob } from '../protocol/step.ts';
import { withoutBlobCodec } from './blob-codec.ts';
import type { BlobStore } from './blob-store.ts';
import { bytesAt, keepBytes, type RunOwner } from './run-blobs.ts';
import { open, seal } from './sealed.ts';

/**
 * Bytes of JSON from which an answer is kept outside the run. An answer stays in a run's memory and goes over to each
 * next run of its chain, so less than for other payloads; the same as the SDK's own default for external storage.
 */
export const ANSWER_THRESHOLD = 256 * 1024;

/** An answer is paid for: a store that is away is given two minutes to come back. Milliseconds. */
const WAITS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 30_000, 30_000];

/** At most so many reads at once when a loop is built. */
const READS_AT_ONCE = 16;

export class AnswerBlobs {
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** @throws BlobStoreError if the store stays away, AbortError once the signal fires */
  async keep(
    run: RunOwner & { chain: string },
    value: unknown,
    converter: LoadedDataConverter,
    signal: AbortSignal,
  ): Promise<AnswerBlob> {
    const bytes = await seal(value, withoutBlobCodec(converter));
    const keep = async () => await keepBytes(this.#blobs, run, run.chain, bytes);
    return { key: await patiently(keep, signal), bytes: bytes.length };
  }

  async read({ key }: AnswerBlob, converter: LoadedDataConverter): Promise<unknown> {
    return await open(await bytesAt(this.#blobs, key), withoutBlobCodec(converter));
  }

  /** What stands for an answer in each of them, with the answer in its place. */
  async readAll<T extends { value?: unknown; blob?: AnswerBlob }>(
    records: readonly T[],
    converter: LoadedDataConverter,
  ): Promise<T[]> {
    const read = [...records];
    const left = [...records.entries()].filter(([, { blob }]) => blob);
    const reader = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const [index, record] = next;
        read[index] = { ...record, value: await this.read(record.blob!, converter) };
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, reader));
    return read;
  }
}

async function patiently<T>(act: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const wait of WAITS) {
    try {
      return await act();
    } catch (error) {
      if (!AgentError.is(error) || !error.retryable) throw error;
    }
    await delay(wait, undefined, { signal });
  }
  return await act();
}
