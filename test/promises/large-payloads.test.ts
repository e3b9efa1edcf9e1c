import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { Client, type WorkflowHandle } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { payloadBytes, payloadFrom } from '../../src/blobs/sealed.ts';
import { approve, BlobsPlugin, records, waiting } from '../../src/index.ts';
import { textOf } from '../fixtures/payload-agents.ts';
import { blobScene } from '../kit/blob-scene.ts';
import { chainOf, client, eventsOf, historyBytes, repeatedSteps, unique, until } from '../kit/temporal.ts';
import { QUICK_PLUGIN, startWorker } from '../kit/workers.ts';
import { sightings } from '../kit/waiting-runs.ts';

const MB = 1024 * 1024;
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

test('large inputs, results and outputs are the same after a crash, one blob each, and the history only refers to them', async () => {
  await using stage = await blobScene('payload-agents');
  const first = await stage.spawn({ kill: { step: 7, when: 'before' } });
  const input = textOf('input', 3 * MB);
  const handle = await stage.start('reads', input);
  await first.ended;
  await stage.spawn();
  const result = await handle.result();
  expect(result).toEqual({
    answers: [1, 2, 3, 4, 5].map((i) => `${input.slice(0, 40)} turn ${i}`),
    whole: textOf('archive', 20 * MB),
    size: 3 * MB,
    input: digest(input),
  });
  const digests = [
    textOf('report', 3 * MB),
    textOf('report', 3 * MB),
    textOf('archive', 20 * MB),
    textOf('iVBOR', MB),
  ];
  expect(sightings(stage.log, 'all').map(({ saw }) => saw)).toEqual([digests.map(digest)]);
  expect(stage.tally()).toMatchObject({ 'ran report orders': 1, [`ran archive ${3 * MB}`]: 1 });
  // The equal reports are one. What goes through the run is kept as it is asked and as it is given on, too: the file
  // that is an argument, the output. The input is the fourth of 3 MB.
  const sizes = (await stage.kept()).map((size) => Math.round(size / MB));
  expect(sizes).toEqual([1, 3, 3, 3, 3, 20, 20, 20]);
  expect(await historyBytes(handle)).toBeLessThan(50_000);
  expect(repeatedSteps(await chainOf(handle))).toEqual([]);
  // A client without the store says what it lacks.
  const plain = (await client()).workflow.getHandle(handle.workflowId);
  await expect(plain.result()).rejects.toThrow('Unknown encoding: json/temporal-agents-blob');
});

test('large results go over to the next runs of a chain, each still one blob', async () => {
  await using stage = await blobScene('payload-agents', { plugin: { continueAfterRecords: 3 } });
  await stage.spawn();
  const handle = await stage.start('gathers', 10);
  expect(await handle.result()).toEqual([digest(textOf('report', 3 * MB))]);
  const histories = await chainOf(handle);
  expect(histories.length).toBeGreaterThan(2);
  expect((await stage.kept()).map((size) => Math.round(size / MB))).toEqual([3]);
  expect(repeatedSteps(histories)).toEqual([]);
  expect((await handle.query(records)).every(({ value, blob }) => value === undefined && blob)).toBe(true);
});

describe('a run whose answers are in a store', () => {
  /** A run that waits for its last turn, its worker killed, with what a new worker has in its place. */
  const interrupted = async () => {
    const stage = await blobScene('payload-agents');
    const first = await stage.spawn({ kill: { step: 4, when: 'before' } });
    const handle = await stage.start('reads', 'short');
    await first.ended;
    return { stage, handle };
  };
  const failing = async (handle: WorkflowHandle, says: RegExp) => {
    const failed = await until(async () => {
      const history = await handle.fetchHistory();
      return eventsOf([history], 'workflowTaskFailed').at(-1);
    }, 'a failed task');
    expect(failed.workflowTaskFailedEventAttributes!.failure!.message).toMatch(says);
  };

  test('fails its tasks, not itself, while its worker has none, and goes on with one that has', async () => {
    const { stage, handle } = await interrupted();
    await using _ = stage;
    const without = await stage.spawn({ plugin: QUICK_PLUGIN });
    await failing(
      handle,
      /^Part of this run is in a blob store, and this process has none: give "blobs" to AgentsPlugin/,
    );
    await without.kill();
    await stage.spawn();
    expect(await handle.result()).toMatchObject({ size: 3 * MB });
    expect(stage.tally()).toMatchObject({ 'ran report orders': 1 });
  });

  test('does so while the store cannot be read, and goes on when it can', async () => {
    const { stage, handle } = await interrupted();
    await using _ = stage;
    renameSync(stage.root, `${stage.root}-away`);
    writeFileSync(stage.root, 'not a folder');
    await stage.spawn();
    await failing(handle, /^Cannot read blob runs\/\S+ in file:\S+: ENOTDIR/);
    await rm(stage.root);
    renameSync(`${stage.root}-away`, stage.root);
    expect(await handle.result()).toMatchObject({ size: 3 * MB });
    expect(stage.tally()).toMatchObject({ 'ran report orders': 1 });
  });
});

test('an answer waits for a store that cannot be written, and its tool is not run again', async () => {
  await using stage = await blobScene('payload-agents');
  writeFileSync(stage.root, 'not a folder');
  await stage.spawn();
  const handle = await stage.start('gathers', 1);
  await until(() => stage.tally()['ran report 1'], 'the tool');
  await until(async () => (await handle.describe()).raw.pendingActivities?.length, 'under way');
  await rm(stage.root);
  expect(await handle.result()).toEqual([digest(textOf('report', 3 * MB))]);
  expect(stage.tally()).toEqual({ 'ran report 1': 1 });
});

test('with a codec that encrypts, nothing is readable in the store or the history, and equal answers are not one blob', async () => {
  const root = join(mkdtempSync(join(tmpdir(), 'blobs-')), 'store');
  const blobs = pathToFileURL(root).href;
  const taskQueue = unique('sealed');
  const dataConverter = { payloadCodecs: [new Scrambler()] };
  const { confides } = await import('../fixtures/payload-agents.ts');
  const plugin = { agents: [confides], blobs };
  const local = await startWorker({ taskQueue, plugin, worker: { dataConverter } });
  const { connection } = await client();
  const reader = new Client({ connection, dataConverter, plugins: [new BlobsPlugin({ blobs })] });
  const input = textOf('confidential', 2 * MB);
  const handle = await reader.workflow.start('confides', { taskQueue, workflowId: taskQueue, args: [input] });
  await until(async () => (await handle.query(waiting)).approvals.length, 'the approval');
  await handle.signal(approve, { id: 'guarded_report-1', by: 'confidential' });
  expect(await handle.result()).toBe(`${input} twice`);
  await local.stop();
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
  // Two equal reports, and what came and went as input, arguments and output.
  expect(contents.filter(({ length }) => length > 2.9 * MB)).toHaveLength(2);
  for (const content of contents) expect(content.includes('confidential')).toBe(false);
  expect(texts(await handle.fetchHistory()).filter((text) => text.includes('confidential'))).toEqual([]);
});

/** All texts and bytes of a history, as texts. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('latin1')];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** Encrypts as Temporal's sample does, with a nonce for each payload. */
class Scrambler implements PayloadCodec {
  readonly #key = randomBytes(32);

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
      const text = Buffer.concat([cipher.update(payloadBytes(payload)), cipher.final(), cipher.getAuthTag()]);
      return {
        metadata: { encoding: Buffer.from('binary/encrypted') },
        data: Buffer.concat([nonce, text]),
      };
    });
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map(({ data }) => {
      const bytes = Buffer.from(data!);
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, 12));
      decipher.setAuthTag(bytes.subarray(-16));
      return payloadFrom(Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]));
    });
  }
}
