/** Values as the bytes of a blob: what Temporal's data converter makes of them, so that what encrypts payloads encrypts blobs. */
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import { BlobStoreError } from '../errors/index.ts';

/** As much of a data converter as values of a blob go through. */
export type Sealing = Pick<LoadedDataConverter, 'payloadConverter' | 'payloadCodecs'>;

/** Begins a blob that is not plain JSON; a line with the payload's metadata and its data follow. No JSON begins so. */
const HEAD = Buffer.from('payload 1\n');
const JSON_PLAIN = 'json/plain';

/** A value as bytes: its JSON if nothing is encoded, otherwise the payload that the codecs made of it. */
export async function seal(
  value: unknown,
  { payloadConverter, payloadCodecs }: Sealing,
): Promise<Uint8Array> {
  let payloads: Payload[] = [payloadConverter.toPayload(value)];
  for (const codec of payloadCodecs) payloads = await codec.encode(payloads);
  const [payload] = payloads;
  if (!payload || payloads.length > 1)
    throw new BlobStoreError(`Cannot write a blob: the codecs made ${payloads.length} payloads of one.`);
  return payloadBytes(payload);
}

/** A payload as bytes. */
export function payloadBytes({ metadata, data }: Payload): Uint8Array {
  const encoded = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)]);
  const bytes = data ?? new Uint8Array();
  const isPlain =
    encoded.length === 1 && encoded[0]![0] === 'encoding' && text(metadata!['encoding']) === JSON_PLAIN;
  if (isPlain) return bytes;
  return Buffer.concat([HEAD, Buffer.from(`${JSON.stringify(Object.fromEntries(encoded))}\n`), bytes]);
}

/**
 * The value that was sealed. Codecs must leave alone what they did not encode, as Temporal asks of them anyway: then what
 * was written before there were any can still be read.
 * @throws BlobStoreError if it was not made by `seal`; whatever the codecs throw
 */
export async function open<T>(bytes: Uint8Array, { payloadConverter, payloadCodecs }: Sealing): Promise<T> {
  let payloads = [payloadFrom(bytes)];
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  return payloadConverter.fromPayload<T>(payloads[0]!);
}

/** @throws BlobStoreError if the bytes were not made by `payloadBytes` */
export function payloadFrom(given: Uint8Array): Payload {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (!bytes.subarray(0, HEAD.length).equals(HEAD))
    return { metadata: { encoding: Buffer.from(JSON_PLAIN) }, data: bytes };
  const end = bytes.indexOf('\n', HEAD.length);
  try {
    const metadata = JSON.parse(bytes.toString('utf8', HEAD.length, end)) as Record<string, string>;
    const decoded = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]);
    return { metadata: Object.fromEntries(decoded) as Record<string, Buffer>, data: bytes.subarray(end + 1) };
  } catch (error) {
    throw new BlobStoreError('Cannot read a blob: what is in it was not written by this package.', {
      cause: error,
    });
  }
}

function base64(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('base64');
}

function text(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
