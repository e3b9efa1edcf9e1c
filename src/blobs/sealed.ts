/** Values as bytes for a store: what Temporal would send of them, so that a codec that encrypts does so here too. */
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import {
  decodeFromPayloadsAtIndex,
  encodeToPayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** A payload as bytes: Temporal's own message, which SDKs in other languages can read. */
export function payloadBytes(payload: Payload): Uint8Array {
  return PayloadMessage.encode(payload).finish();
}

/** @throws Error if the bytes are none */
export function payloadFrom(bytes: Uint8Array): Payload {
  return PayloadMessage.decode(bytes);
}

/** A value through the data converter and its codecs. */
export async function seal(value: unknown, converter: LoadedDataConverter): Promise<Uint8Array> {
  return payloadBytes(await encodeToPayload(converter, value));
}

/** What was sealed. */
export async function unseal(bytes: Uint8Array, converter: LoadedDataConverter): Promise<unknown> {
  return await decodeFromPayloadsAtIndex(converter, 0, [payloadFrom(bytes)]);
}
