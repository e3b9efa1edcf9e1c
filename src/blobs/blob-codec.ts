/**
 * Payloads that are too large for a history, kept in a blob store.
 *
 * A codec, not a driver of the SDK's own external storage: that fails wherever `@temporalio/common` and
 * `@temporalio/proto` have a copy each of `protobufjs`, which is what npm installs (SDK 1.24.0: "type must be a Type").
 */
import type {
  DataConverter,
  LoadedDataConverter,
  Payload,
  PayloadCodec,
  SerializationContext,
} from '@temporalio/common';
import { BlobStoreError } from '../errors/index.ts';
import { MAX_PAYLOAD_BYTES } from '../protocol/limits.ts';
import { LOCAL_INPUT } from '../protocol/names.ts';
import type { BlobStore } from './blob-store.ts';
import { bytesAt, keepBytes, PAYLOADS } from './run-blobs.ts';
import { payloadBytes, payloadFrom } from './sealed.ts';

/**
 * Bytes from which a payload is kept outside the history: an agent's input and output, a tool's arguments, the records
 * when a run continues as new. Half of what a server takes; below it the Temporal UI, and a client without the store,
 * read them.
 */
const PAYLOAD_THRESHOLD = 1024 * 1024;

/** Why what is in a store cannot be read by a process that has none. */
export const NO_BLOBS =
  'Part of this run is in a blob store, and this process has none: give "blobs" to AgentsPlugin, or to BlobsPlugin in a client.';

/** Encoding of a payload that says where another is; whoever has no store fails on it by this name. */
const ENCODING = 'json/temporal-agents-blob';

/** From what size payloads are kept in a store that nobody named: what else would fail, since no client has it. */
export const UNNAMED_THRESHOLD = MAX_PAYLOAD_BYTES;

/**
 * Has large payloads kept in the store, after all other codecs, so that what is encrypted is so there too. Without a
 * store, one that others kept is refused with what is missing.
 */
export function withBlobCodec<T extends { dataConverter?: DataConverter }>(
  options: T,
  blobs: BlobStore | undefined,
  threshold = PAYLOAD_THRESHOLD,
): T {
  const { dataConverter } = options;
  if (dataConverter?.payloadCodecs?.some((codec) => codec instanceof BlobCodec)) return options;
  const payloadCodecs = [new BlobCodec(blobs, dataConverter?.payloadCodecs ?? [], threshold)];
  return { ...options, dataConverter: { ...dataConverter, payloadCodecs } };
}

/** The converter for bytes that go into the store anyhow. */
export function withoutBlobCodec(converter: LoadedDataConverter): LoadedDataConverter {
  const payloadCodecs = converter.payloadCodecs.flatMap((codec) =>
    codec instanceof BlobCodec ? codec.others : [codec],
  );
  return { ...converter, payloadCodecs };
}

/** Wraps all other codecs: what is to stay is only to be seen before they encode it. */
class BlobCodec implements PayloadCodec {
  readonly others: readonly PayloadCodec[];
  readonly #blobs: BlobStore | undefined;
  readonly #threshold: number;

  constructor(blobs: BlobStore | undefined, others: readonly PayloadCodec[], threshold: number) {
    this.#blobs = blobs;
    this.#threshold = threshold;
    this.others = others;
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const stay = payloads.map(isLocalInput);
    let encoded = payloads;
    for (const codec of this.others) encoded = await codec.encode(encoded, context);
    return await Promise.all(
      encoded.map(async (payload, i) => (stay[i] ? payload : await this.#store(payload, context))),
    );
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    let decoded = await Promise.all(payloads.map(async (payload) => await this.#fetch(payload)));
    for (const codec of this.others.toReversed()) decoded = await codec.decode(decoded, context);
    return decoded;
  }

  async #store(payload: Payload, context?: SerializationContext): Promise<Payload> {
    const large = (payload.data?.length ?? 0) >= this.#threshold;
    if (!this.#blobs || !large) return payload;
    const owner = { namespace: context?.namespace ?? '', workflowId: context?.workflowId ?? '' };
    const bytes = payloadBytes(payload);
    const key = await keepBytes(this.#blobs, owner, PAYLOADS, bytes);
    return {
      metadata: { encoding: Buffer.from(ENCODING) },
      data: Buffer.from(JSON.stringify({ key, bytes: bytes.length })),
    };
  }

  async #fetch(payload: Payload): Promise<Payload> {
    const { encoding } = payload.metadata ?? {};
    if (!encoding || Buffer.from(encoding).toString() !== ENCODING) return payload;
    if (!this.#blobs) throw new BlobStoreError(NO_BLOBS);
    const { key } = JSON.parse(Buffer.from(payload.data ?? []).toString()) as { key?: unknown };
    if (typeof key !== 'string') throw new BlobStoreError('A payload that should name a blob names none.');
    return payloadFrom(await bytesAt(this.#blobs, key));
  }
}

const LOCAL_INPUT_JSON = Buffer.from(`{"${LOCAL_INPUT}"`);

/** The input of a local activity is in no history: keeping it elsewhere would be for nothing. */
function isLocalInput({ data }: Payload): boolean {
  // Where there are no bytes, it is the default of the message: an empty list.
  return ArrayBuffer.isView(data) && LOCAL_INPUT_JSON.equals(data.subarray(0, LOCAL_INPUT_JSON.length));
}
