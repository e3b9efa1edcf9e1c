/** A codec under which nothing can be read as it is; for tests, not a cipher. */
import type { DataConverter, PayloadCodec } from '@temporalio/common';

const ENCODING = Buffer.from('binary/xor');

const xorCodec: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map((payload) => {
      const metadata = Object.entries(payload.metadata ?? {}).map(([name, bytes]) => [name, [...bytes]]);
      const plain = JSON.stringify([Object.fromEntries(metadata), [...(payload.data ?? [])]]);
      return { metadata: { encoding: ENCODING }, data: flip(Buffer.from(plain)) };
    }),
  decode: async (payloads) =>
    payloads.map((payload) => {
      if (Buffer.compare(payload.metadata?.['encoding'] ?? Buffer.of(), ENCODING) !== 0) return payload;
      const plain = flip(Buffer.from(payload.data!)).toString();
      const [metadata, data] = JSON.parse(plain) as [Record<string, number[]>, number[]];
      const bytes = Object.entries(metadata).map(([name, numbers]) => [name, Buffer.from(numbers)]);
      return { metadata: Object.fromEntries(bytes), data: Buffer.from(data) };
    }),
};

function flip(bytes: Buffer): Buffer {
  return bytes.map((byte) => byte ^ 0xa5) as Buffer;
}

export const dataConverter: DataConverter = { payloadCodecs: [xorCodec] };
