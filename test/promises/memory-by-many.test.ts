/** Many processes that write one path of memory at once, or die in it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { FileStore, type Memory, MemoryStore } from '../../src/index.ts';
import { spawnMemoryWriter } from '../kit/memory-writers.ts';

const PROCESSES = 20;
const WRITES = 5;
const KILLS = 12;

const newRoot = () => mkdtempSync(join(tmpdir(), 'memory-'));
const shared = (root: string) => new MemoryStore(new FileStore(root)).getOrCreate('shared');

/** The history, oldest first, with what was written; fails if a version is missing, torn or in another's place. */
async function written(memory: Memory) {
  const history = (await memory.history('log.json')).toReversed();
  expect(history.map(({ version }) => version)).toEqual(history.map((_, i) => i + 1));
  return await Promise.all(
    history.map(async (version) => {
      const { text, ...same } = (await memory.readAt('log.json', version.version))!;
      expect(same).toEqual(version);
      const { by, n, filler } = JSON.parse(text!) as { by: string; n: number; filler: string };
      expect({ actor: version.actor, reason: version.reason, filler: filler.length }).toEqual({
        actor: by,
        reason: `write ${n}`,
        filler: n % 7,
      });
      return { by, n, version: version.version, sha256: version.sha256 };
    }),
  );
}

/** Each write as text, in an order. */
const sorted = (writes: object[]) => writes.map((write) => JSON.stringify(write)).toSorted();

test(`${PROCESSES} processes at once: each write is there once, or was refused`, async () => {
  const root = newRoot();
  const names = Array.from({ length: PROCESSES }, (_, i) => `writer-${i}`);
  const writers = await Promise.all(names.map(async (by) => await spawnMemoryWriter(root, by, WRITES)));
  for (const writer of writers) writer.begin();
  for (const { ended } of writers) expect(await ended).toBe(0);
  const said = writers.flatMap((writer, i) => writer.said.map((one) => ({ by: names[i]!, ...one })));
  expect(said).toHaveLength(PROCESSES * WRITES);
  const taken = said.filter(({ version }) => version !== undefined);
  const refused = said.length - taken.length;
  // Those that expect nothing are never refused; of the others some are, or this would show nothing.
  expect(taken.filter(({ n }) => n % 2 === 1)).toHaveLength(PROCESSES * 3);
  expect(refused).toBeGreaterThan(0);
  process.stdout.write(`  ${taken.length} writes taken, ${refused} refused\n`);
  expect(sorted(await written(shared(root)))).toEqual(sorted(taken));
});

test('a process killed in the middle of a write leaves nothing half done, lost or doubled', async () => {
  const root = newRoot();
  const said: { by: string; n: number }[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    const by = `writer-${kill}`;
    const writer = await spawnMemoryWriter(root, by, Infinity);
    writer.begin();
    // Somewhere in the first 60 ms, in which it writes some dozens of times.
    await delay(5 + ((kill * 37) % 60));
    writer.kill();
    expect(await writer.ended).toBe('SIGKILL');
    said.push(...writer.said.map((one) => ({ by, ...one })));
  }
  const there = await written(shared(root));
  expect(said.length).toBeGreaterThan(KILLS);
  // All that was said is there; beside it at most the one write of each that was done and not yet said.
  const known = new Set(sorted(said));
  const unsaid = there.filter((write) => !known.has(JSON.stringify(write)));
  expect(there.length - unsaid.length).toBe(said.length);
  expect(unsaid.length).toBeLessThanOrEqual(KILLS);
  expect(new Set(there.map(({ by, n }) => `${by} ${n}`)).size).toBe(there.length);
  expect(new Set(unsaid.map(({ by }) => by)).size).toBe(unsaid.length);
  process.stdout.write(`  ${said.length} writes said, ${unsaid.length} done and not said\n`);
});
