import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { askStep } from '../../src/loop/ask.ts';
import type { Loop } from '../../src/loop/loop.ts';
import type { StepRecord } from '../../src/protocol/step.ts';
import { PretendRun } from '../kit/pretend-run.ts';
import { recordWith } from '../kit/record.ts';

const ask = (name: string, request: unknown = {}) => askStep<string>({ kind: 'turn', name, request });
const sequential = async () => [await ask('a'), await ask('b')];

/** A run whose loop has asked, and the key of the first step. */
async function asking(body: () => Promise<unknown>): Promise<{ run: PretendRun; loop: Loop; key: string }> {
  const run = new PretendRun(body);
  await run.advance();
  return { run, loop: run.loop, key: run.asked[0]!.key };
}
const record = (key: string, answer: Pick<StepRecord, 'value' | 'failure'>) => recordWith({ key, ...answer });

describe('a loop that waits for one step goes ahead of its record', () => {
  test('and what it asks, and how many answers it had by then, is for the run', async () => {
    const { loop, key } = await asking(sequential);
    const ahead = await loop.goAhead(key, () => 'A', 20);
    expect(ahead).toMatchObject({ took: { records: 1 }, steps: [{ no: 2, name: 'b' }] });
  });

  test('to its end', async () => {
    const { loop, key } = await asking(async () => await ask('a'));
    expect(await loop.goAhead(key, () => 'A', 20)).toEqual({ took: { records: 1 }, end: { output: 'A' } });
  });

  test('but not with that of a call whose arguments a person may have changed, which the record alone says', async () => {
    const heard: unknown[] = [];
    const approval = { prompt: 'Pay?', edit: {} };
    const pay = async () =>
      await askStep({
        kind: 'tool',
        name: 'pay',
        request: {},
        input: { usd: 1 },
        approval,
        onEdited: (edited) => void heard.push(edited),
      });
    const { run, loop, key } = await asking(pay);
    expect(await loop.goAhead(key, () => 'paid', 20)).toBeUndefined();
    const edited = { arguments: { usd: 2 }, by: 'ann' };
    run.records.push({ ...record(key, { value: 'paid' }), edited });
    expect((await run.advance()).end).toEqual({ output: 'paid' });
    expect(heard).toEqual([edited]);
  });

  test('and tells nobody else: the run has it with the answer', async () => {
    const { run, loop, key } = await asking(sequential);
    const { told } = run;
    await loop.goAhead(key, () => 'A', 20);
    expect(run.told).toBe(told);
  });

  test('and says it again to a run that did not get it with the answer', async () => {
    const { loop, key } = await asking(sequential);
    const ahead = await loop.goAhead(key, () => 'A', 20);
    expect(loop.take(0, [record(key, { value: 'A' })], 1)).toBeUndefined();
    expect((await loop.next(1, 20)).steps).toEqual(ahead!.steps);
  });

  test('but not if it asks nothing soon: its run learns what it was answered first', async () => {
    const { run, loop, key } = await asking(async () => {
      await ask('a');
      await delay(100);
      return await ask('b');
    });
    expect(await loop.goAhead(key, () => 'A', 10)).toBeUndefined();
    await delay(150);
    // It need not be told: with the answer it comes.
    expect([loop.hasSomething, loop.mustTell]).toEqual([true, false]);
    run.answer(key, 'A');
    expect((await run.advance(200)).steps).toMatchObject([{ name: 'b' }]);
    expect(loop.mustTell).toBe(true);
  });
});

test('a loop that went ahead waits for the record of that, and says nothing that follows from it before', async () => {
  const { loop, key } = await asking(sequential);
  await loop.goAhead(key, () => 'A', 20);
  expect([loop.take(0, [], 1), loop.had]).toEqual([undefined, 1]);
  expect([loop.take(0, [record(key, { value: 'A' })], 1), loop.had]).toEqual([undefined, 1]);
});

describe('it does not go ahead', () => {
  test('while it waits for something else too: that might be answered first', async () => {
    const { loop, key } = await asking(async () => await Promise.all([ask('a'), ask('b')]));
    expect(await loop.goAhead(key, () => 'A', 20)).toBeUndefined();
    expect(loop.take(0, [], 2)).toBeUndefined();
  });

  test('while its run asks it', async () => {
    const { loop, key } = await asking(sequential);
    const waits = loop.next(1, 50);
    expect(await loop.goAhead(key, () => 'A', 20)).toBeUndefined();
    expect(await waits).toEqual({});
  });

  test('while the run has not heard of all it asks', async () => {
    const { loop, key } = await asking(async () => {
      const a = ask('a');
      await delay(10);
      return await Promise.race([a, ask('b')]);
    });
    await delay(30);
    expect(await loop.goAhead(key, () => 'A', 20)).toBeUndefined();
  });

  test('with the answer to what it did not ask, or was answered', async () => {
    const { run, loop, key } = await asking(sequential);
    expect(await loop.goAhead('other', () => 'A', 20)).toBeUndefined();
    run.answer(key, 'A');
    await run.advance();
    expect(await loop.goAhead(key, () => 'A', 20)).toBeUndefined();
  });

  test('when it is cancelled or dropped', async () => {
    const first = await asking(sequential);
    first.loop.cancel();
    expect(await first.loop.goAhead(first.key, () => 'A', 20)).toBeUndefined();
    const second = await asking(sequential);
    second.loop.drop('for the test');
    expect(await second.loop.goAhead(second.key, () => 'A', 20)).toBeUndefined();
  });
});

describe('a loop that went ahead is given up', () => {
  test.each([
    ['if the step was tried again and answered otherwise', () => ({ value: 'other' })],
    ['if the step failed after all', () => ({ failure: { name: 'TimeoutError', message: 'late' } })],
  ])('%s', async (_when, answer) => {
    const { loop, key } = await asking(sequential);
    await loop.goAhead(key, () => 'A', 20);
    expect(loop.take(0, [record(key, answer())], 1)).toBe('on another path');
  });

  test('if something else was answered before', async () => {
    const { loop, key } = await asking(sequential);
    await loop.goAhead(key, () => 'A', 20);
    expect(loop.take(0, [record('x', { value: 'A' }), record(key, { value: 'A' })], 1)).toBe(
      'on another path',
    );
  });
});
