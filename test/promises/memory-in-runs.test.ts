import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { describe, expect, test } from '@jest/globals';
import { FileStore, MemoryStore, records } from '../../src/index.ts';
import { inGroups, kills } from '../contract/contract-scene.ts';
import { scene } from '../kit/scene.ts';
import { readableUnder } from '../kit/stored-bytes.ts';
import { assertReplays, chainOf, client, repeatedSteps, unique, until } from '../kit/temporal.ts';
import { type KillAt, QUICK_START } from '../kit/workers.ts';
import { dataConverter } from '../kit/xor-codec.ts';

const newRoot = () => join(mkdtempSync(join(tmpdir(), 'memory-')), 'blobs');
const outside = (root: string, key: string) => new MemoryStore(new FileStore(root)).getOrCreate(key);
const sceneWith = async (root: string, env: Record<string, string> = {}) =>
  await scene('memory-agents', { env: { KIT_BLOBS: root, ...env } });
const KEEPER_STEPS = 6;

/** Runs `keeper` after somebody else has written, its worker killed as told and replaced. */
async function keep(kill?: KillAt) {
  const root = newRoot();
  await outside(root, 'ann').writeJson('profile.json', { visits: 6 }, { actor: 'test', reason: 'before' });
  await using stage = await sceneWith(root);
  const worker = await stage.spawn(kill && { kill });
  const handle = await stage.start('keeper', 'ann');
  if (kill) {
    await worker.ended;
    await stage.spawn();
  }
  const result: unknown = await handle.result();
  const histories = await chainOf(handle);
  const done = await handle.query(records);
  return { result, histories, root, done, handle };
}

const kept = {
  before: { visits: 6 },
  version: 2,
  after: { visits: 7 },
  paths: ['profile.json'],
};

describe('a run that reads, writes and reads', () => {
  test('leaves what it wrote, and who wrote it, when and in which step', async () => {
    const { result, root, done, handle } = await keep();
    expect(result).toEqual(kept);
    expect(done.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'step memory.readJson profile.json',
      'step memory.write profile.json',
      'step memory.write notes/last.txt',
      'step memory.readJson profile.json',
      'step memory.delete notes/last.txt',
      'step memory.list',
    ]);
    const run = { workflowId: handle.workflowId, runId: handle.firstExecutionRunId };
    const [version] = await outside(root, 'ann').history('profile.json');
    expect(version).toMatchObject({ version: 2, actor: 'keeper', reason: 'a visit' });
    expect(version!.run).toEqual({ ...run, step: done[1]!.key });
    const notes = await outside(root, 'ann').history('notes/last.txt');
    expect(notes.map(({ actor, deleted }) => [actor, deleted])).toEqual([
      ['keeper', true],
      ['the clerk', undefined],
    ]);
  });

  test.each(inGroups(kills(KEEPER_STEPS)))(
    'ends the same, and each write is applied once, killed at %j',
    async (group) => {
      for (const { result, histories, root } of await Promise.all(group.map(keep))) {
        expect(result).toEqual(kept);
        expect(await outside(root, 'ann').history('profile.json')).toHaveLength(2);
        expect(await outside(root, 'ann').history('notes/last.txt')).toHaveLength(2);
        expect(repeatedSteps(histories)).toEqual([]);
        await assertReplays(histories);
      }
    },
  );

  test('is told of a write that came too late, and after a restart the same', async () => {
    await using stage = await sceneWith(newRoot());
    const worker = await stage.spawn({ kill: { step: 2, when: 'after' } });
    const handle = await stage.start('stale', 'ann');
    await worker.ended;
    await stage.spawn();
    const { sha256 } = (await handle.query(records))[0]!.value as { sha256: string };
    expect(await handle.result()).toEqual({ name: 'ConcurrencyError', currentSha: sha256 });
  });
});

test('two runs that add to one list at once both add all of theirs', async () => {
  const root = newRoot();
  await using stage = await sceneWith(root);
  await stage.spawn();
  const items = (who: string) => Array.from({ length: 6 }, (_, n) => `${who}${n}`);
  const handles = await Promise.all(
    ['a', 'b'].map(async (who) => await stage.start('adder', { key: 'shared', items: items(who) })),
  );
  await Promise.all(handles.map(async (handle) => await handle.result()));
  const list = await outside(root, 'shared').readJson<string[]>('list.json');
  expect(list!.filter((item) => item.startsWith('a'))).toEqual(items('a'));
  expect(list!.filter((item) => item.startsWith('b'))).toEqual(items('b'));
  expect(await outside(root, 'shared').history('list.json')).toHaveLength(12);
});

test("a step's key over the whole chain stays what it is when the run continues as new", async () => {
  await using stage = await scene('memory-agents', { plugin: { continueAfterRecords: 1 } });
  await stage.spawn();
  const handle = await stage.start('chained');
  const [before, , after] = (await handle.result()) as string[];
  expect((await chainOf(handle)).length).toBeGreaterThan(1);
  expect(before).toMatch(new RegExp(`^${handle.firstExecutionRunId}:`));
  expect(after).toBe(`${before}.2`);
});

test('a run whose store is away goes on when it is back', async () => {
  const root = newRoot();
  const gate = join(root, '..', 'gate');
  await using stage = await sceneWith(root);
  await stage.spawn();
  const handle = await stage.start('patient', { key: 'ann', gate });
  await until(() => stage.tally()['at the gate'], 'the gate');
  renameSync(root, `${root}-away`);
  writeFileSync(root, 'in its place');
  writeFileSync(gate, '');
  const tries = async () => (await handle.describe()).raw.pendingActivities?.[0]?.attempt ?? 0;
  await until(async () => (await tries()) >= 2, 'another try');
  rmSync(root);
  renameSync(`${root}-away`, root);
  expect(await handle.result()).toEqual({ read: 1, last: 2 });
  const history = await outside(root, 'ann').history('n.json');
  expect(history.map(({ version, reason }) => [version, reason])).toEqual([
    [2, 'second'],
    [1, 'first'],
  ]);
  const retries = (await chainOf(handle)).flatMap(({ events }) =>
    (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.taskQueue?.name === stage.taskQueue || !scheduled ? [] : [scheduled.retryPolicy],
    ),
  );
  expect(retries).toMatchObject([{ maximumAttempts: 16, maximumInterval: { seconds: expect.anything() } }]);
});

test('with a codec, nothing that a run remembers can be read in the store', async () => {
  const root = newRoot();
  const secrets = ['visit 1', 'profile.json', 'a visit', 'keeper', 'customer-ann', 'visits'];
  const converter = new URL('../kit/xor-codec.ts', import.meta.url).href;
  await using stage = await sceneWith(root, { KIT_DATA_CONVERTER: converter });
  await stage.spawn();
  const { connection } = await client();
  const { workflow } = new Client({ connection, dataConverter });
  const start = { taskQueue: stage.taskQueue, workflowId: unique('keeper'), ...QUICK_START };
  const result = await workflow.execute('keeper', { ...start, args: ['customer-ann'] });
  expect(result).toMatchObject({ before: null, after: { visits: 1 } });
  expect(readableUnder(root, secrets)).toEqual([]);
  const memory = new MemoryStore(new FileStore(root), { dataConverter }).getOrCreate('customer-ann');
  expect(await memory.readJson('profile.json')).toEqual({ visits: 1 });
});

describe('memory that is not there', () => {
  test('fails the run at once, and names the setting', async () => {
    await using stage = await scene('memory-agents');
    await stage.spawn();
    await expect((await stage.start('keeper', 'ann')).result()).rejects.toMatchObject({
      cause: { type: 'DeclarationError', message: expect.stringContaining('AgentsPlugin({ blobs })') },
    });
  });

  test('says in the body of a tool what to use there', async () => {
    await using stage = await sceneWith(newRoot());
    await stage.spawn();
    const error = expect.stringMatching(/^DeclarationError: .*body of a tool or step.*new MemoryStore/);
    expect(await (await stage.start('bodies', 'ann')).result()).toEqual([error, error]);
  });
});
