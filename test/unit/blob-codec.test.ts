import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { withBlobCodec } from '../../src/blobs/blob-codec.ts';
import { FileStore } from '../../src/blobs/file-store.ts';
import { LOCAL_INPUT } from '../../src/protocol/names.ts';

const newStore = () => new FileStore(join(mkdtempSync(join(tmpdir(), 'codec-')), 'store'));
const large = 'x'.repeat(1_100_000);
const context = { type: 'workflow', namespace: 'default', workflowId: 'w' } as const;

function codecOf(store?: FileStore, others: PayloadCodec[] = []): PayloadCodec {
  const { dataConverter } = withBlobCodec({ dataConverter: { payloadCodecs: others } }, store);
  expect(dataConverter.payloadCodecs).toHaveLength(1);
  return dataConverter.payloadCodecs[0]!;
}

async function throughCodec(
  codec: PayloadCodec,
  value: unknown,
): Promise<{ encoded: Payload; value: unknown }> {
  const [encoded] = await codec.encode([defaultPayloadConverter.toPayload(value)], context);
  const [decoded] = await codec.decode([encoded!], context);
  return { encoded: encoded!, value: defaultPayloadConverter.fromPayload(decoded!) };
}

/** Says of each payload that it was here; the last one in is the first one out. */
const marking: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map((payload) => ({ metadata: { encoding: Buffer.from('marked') }, data: payload.data! })),
  decode: async (payloads) =>
    payloads.map(({ data }) => ({ metadata: { encoding: Buffer.from('json/plain') }, data: data! })),
};

test('a large payload is kept in the store, encoded by all other codecs', async () => {
  const { encoded, value } = await throughCodec(codecOf(newStore(), [marking]), large);
  expect(encoded.data!.length).toBeLessThan(500);
  expect(value).toBe(large);
});

test.each([
  ['small', 'small'],
  ['what only goes to a local activity', { [LOCAL_INPUT]: 1, records: large }],
])('stays as the other codecs made it: %s', async (_what, given) => {
  const { encoded, value } = await throughCodec(codecOf(newStore(), [marking]), given);
  expect(Buffer.from(encoded.metadata!['encoding']!).toString()).toBe('marked');
  expect(value).toEqual(given);
});

test('a payload without bytes, as the message has it by default, passes', async () => {
  const empty = { metadata: { encoding: Buffer.from('binary/null') }, data: [] as unknown as Uint8Array };
  expect(await codecOf(newStore()).encode([empty], context)).toEqual([empty]);
});

test('without a store, what others kept is refused with what is missing, and a key of no run always', async () => {
  const [kept] = await codecOf(newStore()).encode([defaultPayloadConverter.toPayload(large)], context);
  await expect(codecOf().decode([kept!])).rejects.toThrow(/this process has none: give "blobs"/);
  const forged = { ...kept!, data: Buffer.from(JSON.stringify({ key: 'memory/a/b/c/1' })) };
  await expect(codecOf(newStore()).decode([forged])).rejects.toThrow(/Not a blob of a run/);
});
