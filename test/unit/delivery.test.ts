import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { askStep } from '../../src/loop/ask.ts';
import { Delivery } from '../../src/loop/delivery.ts';
import { PretendRun } from '../kit/pretend-run.ts';
import { recordWith } from '../kit/record.ts';

// Here a second of what the loop is waited for takes 250 ms.
const realNow = Date.now;
const start = realNow();
beforeEach(() => void jest.spyOn(Date, 'now').mockImplementation(() => start + (realNow() - start) * 4));
afterEach(() => void jest.restoreAllMocks());

const records = (...keys: string[]) => keys.map((key) => recordWith({ key }));

/** A delivery of which the test is the loop. */
function delivery(options: { pending?: string[]; divergedAt?: number } = {}) {
  const asked = new Set<string>();
  const settled: string[] = [];
  const made = new Delivery({
    pending: options.pending ?? [],
    pendingChanged: [],
    divergedAt: options.divergedAt,
    isAsked: (key) => asked.has(key),
    settle: ({ key }) => {
      asked.delete(key);
      settled.push(key);
    },
    settled: () => {},
  });
  const ask = (...keys: string[]) => {
    for (const key of keys) asked.add(key);
    for (const key of keys) made.asked(key);
  };
  /** What was settled, once that is so much. */
  const settledAre = async (count: number) => {
    while (settled.length < count) await delay(1);
    return settled;
  };
  return { made, ask, settled, settledAre };
}

describe('records go to the loop', () => {
  test('in recorded order, whatever the order in which it asks', async () => {
    const { made, ask, settledAre } = delivery();
    made.take(0, records('a', 'b', 'c', 'd'));
    ask('d', 'b', 'c', 'a');
    expect(await settledAre(4)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('one in each turn of the event loop, so that what one causes comes before the next', async () => {
    const { made, ask, settled, settledAre } = delivery();
    made.take(0, records('a', 'b'));
    ask('a', 'b');
    expect(settled).toEqual(['a']);
    expect(await settledAre(2)).toEqual(['a', 'b']);
  });

  test('also if they come before it asks', async () => {
    const { made, ask, settled } = delivery();
    made.take(0, records('a'));
    await delay(5);
    expect(settled).toEqual([]);
    ask('a');
    expect(settled).toEqual(['a']);
  });

  test('once, however often they are brought', async () => {
    const { made, ask, settled, settledAre } = delivery();
    const all = records('a', 'b', 'c');
    ask('a', 'b', 'c');
    for (const from of [0, 1, 2, 3, 0]) expect(made.take(from, all.slice(from))).toBeUndefined();
    await settledAre(3);
    expect(made.take(0, all)).toBeUndefined();
    await delay(20);
    expect(settled).toEqual(['a', 'b', 'c']);
  });
});

describe('an earlier record that the loop has not asked for yet', () => {
  test('holds back later ones, so that a race has the same winner after a restart', async () => {
    const { made, ask, settled, settledAre } = delivery();
    made.take(0, records('winner', 'loser'));
    ask('loser');
    await delay(40);
    expect(settled).toEqual([]);
    ask('winner');
    expect(await settledAre(2)).toEqual(['winner', 'loser']);
  });

  test('is given up after 2 s', async () => {
    const { made, ask, settledAre } = delivery();
    made.take(0, records('never asked', 'b', 'c'));
    const began = Date.now();
    ask('b', 'c');
    expect(await settledAre(2)).toEqual(['b', 'c']);
    expect(Date.now() - began).toBeGreaterThanOrEqual(2_000);
  });

  test.each([['b'], ['new']])(
    'holds it back also from a loop that asks something new, %s last',
    async (last) => {
      const { made, ask, settled, settledAre } = delivery();
      made.take(0, records('slow', 'b'));
      ask(...['b', 'new'].toSorted((name) => (name === last ? 1 : -1)));
      await delay(40);
      expect(settled).toEqual([]);
      ask('slow');
      expect(await settledAre(2)).toEqual(['slow', 'b']);
    },
  );

  test('holds nothing back any more once the loop has left the recorded path', async () => {
    const { made, ask, settled } = delivery();
    made.take(0, records('never asked', 'b', 'nor this', 'c'));
    ask('new');
    await made.decided;
    ask('b');
    await delay(5);
    ask('c');
    expect(settled).toEqual(['b', 'c']);
  });

  test('holds nothing back once the run is cancelled', async () => {
    const { made, ask, settled } = delivery();
    made.take(0, records('never asked', 'b'));
    made.cancel();
    ask('b', 'new');
    expect(settled).toEqual(['b']);
    expect([made.decided, made.divergedAt]).toEqual([undefined, undefined]);
  });

  test('is not given up for a step that the run has in flight', async () => {
    const { made, ask, settled, settledAre } = delivery({ pending: ['in flight'] });
    made.take(0, records('winner', 'loser'));
    ask('in flight', 'loser');
    await delay(40);
    expect(settled).toEqual([]);
    ask('winner');
    expect(await settledAre(2)).toEqual(['winner', 'loser']);
  });

  test('is still given when it is asked after it was given up', async () => {
    const { made, ask, settledAre } = delivery();
    made.take(0, records('late', 'b'));
    ask('b', 'new');
    await settledAre(1);
    ask('late');
    expect(await settledAre(2)).toEqual(['b', 'late']);
  });
});

describe('a loop is not where the run is', () => {
  test.each([
    ['behind: it lacks records that the run has given', 2, records('c'), 'behind'],
    ['on another path', 0, records('b', 'a'), 'on another path'],
  ])('%s', (_where, from, given, why) => {
    const { made } = delivery();
    made.take(0, records('a'));
    expect(made.take(from, given)).toBe(why);
  });

  test('and then has taken nothing', async () => {
    const { made, ask, settled } = delivery();
    made.take(0, records('a'));
    made.take(0, records('b', 'c'));
    ask('a', 'b', 'c');
    await delay(20);
    expect(settled).toEqual(['a']);
  });
});

describe('a loop has left the recorded path', () => {
  test('when it asks something new and in 2 s does not ask for all that was recorded', async () => {
    const { made, ask } = delivery();
    made.take(0, records('a', 'b'));
    ask('new');
    expect(made.divergedAt).toBeUndefined();
    ask('a');
    await made.decided;
    expect(made.divergedAt).toBe(2);
  });

  test('but not when a branch asks for that later than another asks something new', async () => {
    const { made, ask, settledAre } = delivery();
    made.take(0, records('a', 'b'));
    ask('new');
    await delay(40);
    ask('b');
    await delay(40);
    ask('a');
    await made.decided;
    expect(made.divergedAt).toBeUndefined();
    expect(await settledAre(2)).toEqual(['a', 'b']);
  });

  test.each([
    ['it asks something new when it has read everything', [], ['a', 'b', 'new']],
    ['it asks what the run has in flight', ['in flight'], ['in flight']],
    ['it asks in another order', [], ['b', 'a']],
  ])('but not when %s', (_when, pending, asks) => {
    const { made, ask } = delivery({ pending });
    made.take(0, records('a', 'b'));
    ask(...asks);
    expect(made.divergedAt).toBeUndefined();
  });

  test('only once', async () => {
    const { made, ask } = delivery();
    made.take(0, records('a', 'b'));
    ask('new');
    await made.decided;
    made.take(2, records('new'));
    ask('newer');
    expect(made.divergedAt).toBe(2);
  });
});

describe('a read-only step is asked', () => {
  test('under its newest key, be that answered or still in flight', () => {
    expect(delivery({ pending: ['read~2'] }).made.keyFor('read', true)).toBe('read~2');
    const { made } = delivery();
    made.take(0, records('read', 'read~1'));
    expect(made.keyFor('read', true)).toBe('read~1');
  });

  test('anew, once the loop has left the recorded path, if its answer is from before the change', async () => {
    const { made, ask } = delivery();
    made.take(0, records('read', 'old'));
    ask('new');
    await made.decided;
    expect([made.keyFor('read', true), made.keyFor('other', true)]).toEqual(['read~1', 'other']);
  });

  test('once that is known, and counts as asked before', async () => {
    const { made, ask } = delivery();
    made.take(0, records('read', 'old'));
    expect(made.decidedFor('read')).toBeUndefined();
    ask('new');
    expect(made.decidedFor('other')).toBeUndefined();
    const decided = made.decidedFor('read');
    expect(decided).toBeDefined();
    ask('old');
    await decided;
    expect([made.keyFor('read', true), made.divergedAt]).toEqual(['read', undefined]);
  });

  test('but any other step is never asked anew', async () => {
    const { made, ask } = delivery();
    made.take(0, records('pay', 'old'));
    ask('new');
    await made.decided;
    expect(made.keyFor('pay', false)).toBe('pay');
  });
});

describe('a race with own I/O before the first step of the branch that won', () => {
  const race = (paces: readonly number[]) => async () =>
    await Promise.race(
      ['fast', 'slow'].map(async (name, i) => {
        await delay(paces[i]);
        await askStep({ kind: 'turn', name, request: {} });
        return await askStep<string>({ kind: 'tool', name: `charge for ${name}`, request: {} });
      }),
    );

  test.each([[30], [200]])('has the same winner after a restart: %d ms', async (pace) => {
    const paces = [1, 10];
    const run = new PretendRun(async () => await race(paces)());
    await run.advance();
    await run.advance();
    await run.answerTo('fast');
    await run.answerTo('slow');
    expect(run.waitsFor).toEqual(['charge for fast', 'charge for slow']);
    await run.answerTo('charge for fast', 'fast');
    // After the restart the branch that won is the slower one to ask.
    paces[0] = pace;
    run.build();
    await run.advance(pace + 100);
    expect((await run.advance()).end).toEqual({ output: 'fast' });
  });
});
