import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { StepRecord } from '../../src/protocol/step.ts';
import { outputOf, PretendRun } from '../kit/pretend-run.ts';
import { type Program, programs, run } from '../kit/programs.ts';

/** A run as it went: its records, what was asked when it had so many of them, and how it ended. */
interface Past {
  records: StepRecord[];
  asked: string[][];
  output: unknown;
}

/** Which of the steps in flight is answered next, by numbers at will. */
const choices = fc.infiniteStream(fc.nat({ max: 1_000 }));
const names = (kept: PretendRun) => kept.asked.map(({ key }) => key);

/** Runs a program to its end, one answer at a time. */
async function live(program: Program, choose: Iterator<number>): Promise<Past> {
  const kept = new PretendRun(() => run(program));
  const past: Past = { records: kept.records, asked: [], output: undefined };
  for (;;) {
    const got = await kept.settle();
    past.asked.push(names(kept).toSorted());
    if (got.end) return { ...past, output: outputOf(got.end) };
    const keys = [...kept.inFlight.keys()];
    if (keys.length === 0) continue;
    const key = keys[choose.next().value! % keys.length]!;
    kept.answer(key, `${key}:${past.records.length}`);
  }
}

/** A fresh loop with the first `n` records, when it has nothing more to ask. */
async function restarted(program: Program, past: Past, n: number): Promise<PretendRun> {
  const had = new Set(past.records.slice(0, n).map(({ key }) => key));
  const pending = past.asked[n]!.filter((key) => !had.has(key));
  const kept = new PretendRun(() => run(program), { records: past.records.slice(0, n), pending });
  await kept.settle();
  return kept;
}

/** What a run had asked that has no record, when it had so many. */
function open(past: Past, n: number): string[] {
  const had = new Set(past.records.slice(0, n).map(({ key }) => key));
  return past.asked[n]!.filter((key) => !had.has(key));
}

describe('for any agent of sequential, parallel and racing steps', () => {
  test('a fresh loop with any prefix of the records asks what the first one asked next', async () => {
    await fc.assert(
      fc.asyncProperty(programs(), choices, fc.nat(), async (program, choose, at) => {
        const past = await live(program, choose);
        const n = at % (past.records.length + 1);
        const again = await restarted(program, past, n);
        expect(names(again).toSorted()).toEqual(open(past, n));
        expect(again.divergedAt).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['a fresh loop goes on to the same end, wherever the first one was lost', false],
    ['so it does if its branches do I/O of their own before they ask', true],
  ])('%s', async (_promise, own) => {
    await fc.assert(
      fc.asyncProperty(programs(own), choices, fc.nat(), async (program, choose, at) => {
        const past = await live(program, choose);
        const again = await restarted(program, past, at % (past.records.length + 1));
        let end = (await again.settle()).end;
        // The rest of the answers as they came the first time.
        for (const { key, value } of past.records.slice(again.records.length)) {
          while (!again.inFlight.has(key)) await again.settle();
          again.answer(key, value);
          end = (await again.settle()).end;
        }
        while (!end) end = (await again.settle()).end;
        expect(outputOf(end)).toEqual(past.output);
        expect(again.records).toEqual(past.records);
        expect(again.divergedAt).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test('answers given several at a time lead to the same steps as one at a time', async () => {
    const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 4 }));
    await fc.assert(
      fc.asyncProperty(programs(), choices, sizes, async (program, choose, size) => {
        const past = await live(program, choose);
        const kept = new PretendRun(() => run(program));
        await kept.settle();
        while (kept.records.length < past.records.length) {
          const next = past.records.slice(kept.records.length, kept.records.length + size.next().value!);
          const ready = next.findIndex(({ key }) => !kept.inFlight.has(key));
          for (const { key, value } of next.slice(0, ready < 0 ? next.length : ready))
            kept.answer(key, value);
          await kept.settle();
          expect(names(kept).toSorted()).toEqual(past.asked[kept.records.length]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('answers given to the loop before they are recorded lead to the same steps', async () => {
    const aheads = fc.infiniteStream(fc.boolean());
    await fc.assert(
      fc.asyncProperty(programs(), choices, aheads, async (program, choose, ahead) => {
        const past = await live(program, choose);
        const kept = new PretendRun(() => run(program));
        await kept.settle();
        for (const { key, value } of past.records) {
          if (ahead.next().value) await kept.answerAhead(key, value);
          else kept.answer(key, value);
          await kept.settle();
          expect(names(kept).toSorted()).toEqual(past.asked[kept.records.length]);
        }
        expect(outputOf((await kept.settle()).end)).toEqual(past.output);
      }),
      { numRuns: 60 },
    );
  });

  test('bringing any part of the records again changes nothing', async () => {
    const froms = fc.infiniteStream(fc.nat());
    await fc.assert(
      fc.asyncProperty(programs(), choices, froms, async (program, choose, from) => {
        const past = await live(program, choose);
        const kept = new PretendRun(() => run(program));
        for (let n = 0; ; n++) {
          await kept.settle();
          for (let times = 0; times < 2; times++) {
            expect(kept.redeliver(from.next().value! % (n + 1))).toBeUndefined();
          }
          await kept.settle();
          expect(names(kept).toSorted()).toEqual(past.asked[n]);
          if (n === past.records.length) break;
          const { key, value } = past.records[n]!;
          kept.answer(key, value);
          // The task that brought this answer was lost after the loop had it: the same once more, before the next.
          expect(kept.redeliver(from.next().value! % (n + 1))).toBeUndefined();
        }
        expect(outputOf((await kept.settle()).end)).toEqual(past.output);
      }),
      { numRuns: 60 },
    );
  });

  test('a loop that has something else than the run says so, one that only has more waits for it, and both stay as they are', async () => {
    await fc.assert(
      fc.asyncProperty(programs(), choices, fc.nat(), fc.boolean(), async (program, choose, at, other) => {
        const past = await live(program, choose);
        const n = at % past.records.length;
        const again = await restarted(program, past, past.records.length);
        const wrong = past.records.slice(0, n);
        if (other)
          wrong.push(...past.records.slice(n).map((record) => ({ ...record, key: `${record.key}x` })));
        expect(again.loop.take(0, wrong, 0)).toBe(other ? 'on another path' : undefined);
        expect(outputOf((await again.settle()).end)).toEqual(past.output);
      }),
      { numRuns: 30 },
    );
  });
});
