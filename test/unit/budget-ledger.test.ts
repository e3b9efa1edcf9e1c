import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AllowanceReport, Amounts } from '../../src/protocol/budget.ts';
import { readBudget, RAISE_SCHEMA } from '../../src/records/budget-limits.ts';
import { BudgetLedger, isSome, needOf, nothing, sum } from '../../src/records/budget-ledger.ts';
import { whyNotFits } from '../../src/records/fits-schema.ts';
import { recordWith } from '../kit/record.ts';

const amounts = (usd: number, tokens = 0, turns = 0): Amounts => ({ usd, tokens, turns });
const reportOf = (changes: Partial<AllowanceReport> = {}): AllowanceReport => ({
  grants: 0,
  returned: nothing(),
  settled: nothing(),
  ...changes,
});

describe('the books of a run', () => {
  test('a turn holds its worst case until its answer says what it took', () => {
    const ledger = new BudgetLedger();
    ledger.limit = { usd: 1, turns: 2 };
    ledger.reserve('a', needOf({ input: 100, output: 10, usd: 0.6 }, 1));
    expect(ledger.held).toEqual(amounts(0.6, 110, 1));
    expect(ledger.short(amounts(0.5, 1, 1))).toEqual({ own: ['usd'], allowed: [] });
    ledger.settle(recordWith({ key: 'a', usage: { input: 90, output: 5 }, usd: 0.2 }));
    expect([ledger.settled, ledger.held, ledger.left]).toEqual([
      amounts(0.2, 95, 1),
      nothing(),
      { usd: 0.8, turns: 1 },
    ]);
    expect(ledger.short(amounts(0.5, 1, 1))).toEqual({ own: [], allowed: [] });
  });

  test('an attempt that vanished counts once more, held and settled', () => {
    const ledger = new BudgetLedger();
    expect(needOf({ input: 1, output: 2, usd: 0.5 }, 3)).toEqual(amounts(1.5, 9, 3));
    ledger.settle(recordWith({ usage: { input: 10, output: 5 }, usd: 0.2, lost: 1 }));
    expect(ledger.settled).toEqual(amounts(0.4, 30, 2));
  });

  test('what a lost attempt may have cost stays held, and nobody waits for it to be given back', () => {
    const ledger = new BudgetLedger();
    ledger.limit = { usd: 1 };
    ledger.reserve('a', amounts(0.4, 0, 1));
    expect(ledger.mayRelease).toBe(true);
    ledger.release('a', true);
    expect([ledger.held, ledger.mayRelease]).toEqual([amounts(0.4, 0, 1), false]);
    // It is asked again: with both attempts.
    ledger.release('a', false);
    ledger.reserve('a', amounts(0.8, 0, 2));
    ledger.settle(recordWith({ key: 'a', usage: { input: 1, output: 1 }, usd: 0.1, lost: 1 }));
    expect([ledger.settled, ledger.held]).toEqual([amounts(0.2, 4, 2), nothing()]);
  });

  test('a turn that failed without an answer counts as if each attempt had cost the most', () => {
    const ledger = new BudgetLedger();
    const worst = { input: 10, output: 5, usd: 0.3 };
    ledger.reserve('a', needOf(worst, 1));
    ledger.settle(recordWith({ key: 'a', failure: { name: 'E', message: 'm' }, lost: 2, worst }));
    expect([ledger.settled, ledger.held]).toEqual([amounts(0.6, 30, 2), nothing()]);
  });

  test('a failed turn gives back what it held', () => {
    const ledger = new BudgetLedger();
    ledger.reserve('a', amounts(1));
    ledger.settle(recordWith({ key: 'a', failure: { name: 'E', message: 'm' } }));
    expect(sum(ledger.settled, ledger.held)).toEqual(nothing());
  });
});

describe('a child', () => {
  test('begins with a quarter of what is left, and what it never gave back counts as spent', () => {
    const ledger = new BudgetLedger();
    ledger.limit = { usd: 1, turns: 9 };
    expect(ledger.startChild('c')).toEqual({ usd: 0.25, turns: 2 });
    expect(ledger.held).toEqual(amounts(0.25, 0, 2));
    ledger.hear('c', reportOf({ settled: amounts(0.1, 500, 1), returned: amounts(0.1, 0, 1) }));
    ledger.endChild('c');
    expect(ledger.held).toEqual(nothing());
    // Tokens are not limited: it was given none, and says what it took.
    expect(ledger.settled).toEqual(amounts(0.15, 500, 1));
  });

  test('that never was has spent nothing', () => {
    const ledger = new BudgetLedger();
    ledger.limit = { usd: 1 };
    ledger.startChild('c');
    ledger.endChild('c', true);
    expect(sum(ledger.settled, ledger.held)).toEqual(nothing());
  });

  test('has no more than it was given, whatever it says, and takes nothing back', () => {
    const ledger = new BudgetLedger();
    ledger.limit = { usd: 1 };
    ledger.startChild('c');
    ledger.hear('c', reportOf({ returned: amounts(99, 99, 99) }));
    expect(ledger.held).toEqual(nothing());
    ledger.hear('c', reportOf({ returned: nothing() }));
    expect(ledger.held).toEqual(nothing());
    expect(ledger.left).toEqual({ usd: 1 });
  });

  test('waits for what it wants until an answer is on its way, and no longer', () => {
    const ledger = new BudgetLedger();
    ledger.limit = { usd: 1 };
    ledger.startChild('c');
    ledger.hear('c', reportOf({ wants: amounts(0.3) }));
    expect(ledger.wantsOf('c')).toEqual(amounts(0.3));
    // What it wants, and a quarter of what is left then.
    expect(ledger.grant('c', amounts(0.3))).toEqual({
      grants: 1,
      granted: { usd: expect.closeTo(0.25 + 0.3 + 0.45 / 4, 9), tokens: 0, turns: 0 },
    });
    expect(ledger.wantsOf('c')).toBeUndefined();
    // It said so before the grant came.
    ledger.hear('c', reportOf({ wants: amounts(0.3) }));
    expect(ledger.wantsOf('c')).toBeUndefined();
    ledger.hear('c', reportOf({ grants: 1, wants: amounts(0.1) }));
    expect(ledger.wantsOf('c')).toEqual(amounts(0.1));
  });

  test('that nobody knows is not heard', () => {
    const ledger = new BudgetLedger();
    ledger.hear('c', reportOf({ wants: amounts(1) }));
    expect([ledger.wantsOf('c'), ledger.grant('c', amounts(1)), ledger.refuse('c')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

/** A run below another: it has turns to take, and messages from above and to above that take their time. */
interface Below {
  ledger: BudgetLedger;
  turns: { worst: number; cost: number }[];
  underWay: { key: string; worst: number; cost: number }[];
  grants: number;
  up: AllowanceReport[];
  down: { grants: number; granted: Amounts; refused?: true }[];
  refused: boolean;
  told: string;
}

test('however messages cross each other, all together never hold or spend more than the budget, and all ends', () => {
  const turn = fc.record({ worst: fc.integer({ min: 1, max: 30 }), share: fc.integer({ min: 0, max: 100 }) });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 200 }),
      fc.array(fc.array(turn, { maxLength: 8 }), { minLength: 1, maxLength: 5 }),
      fc.infiniteStream(fc.nat()),
      (budget, works, choices) => {
        const top = new BudgetLedger();
        top.limit = { usd: budget };
        const children = works.map((work, i): Below => {
          const ledger = new BudgetLedger();
          ledger.granted = top.startChild(String(i));
          const turns = work.map(({ worst, share }) => ({ worst, cost: (worst * share) / 100 }));
          return { ledger, turns, underWay: [], grants: 0, up: [], down: [], refused: false, told: '' };
        });
        const living = new Set(children.keys());
        let spent = 0;
        for (let n = 0; living.size > 0; n++) {
          expect(n).toBeLessThan(5_000);
          const acts = [...living].flatMap((i) => actsOf(top, children[i]!, i, living));
          acts[choices.next().value! % acts.length]!();
          spent = children.reduce((all, { ledger }) => all + ledger.settled.usd, 0);
          const held = children.reduce((all, { ledger }) => all + ledger.held.usd, 0);
          expect(spent + held).toBeLessThanOrEqual(budget + 1e-6);
          expect(top.settled.usd + top.held.usd).toBeLessThanOrEqual(budget + 1e-6);
        }
        expect(top.settled.usd).toBeCloseTo(spent, 6);
        expect(top.held.usd).toBeCloseTo(0, 6);
      },
    ),
    { numRuns: 300 },
  );
});

/** All that may happen next to a child, or between it and the run above. */
function actsOf(top: BudgetLedger, child: Below, i: number, living: Set<number>): (() => void)[] {
  const { ledger, turns, underWay, up, down } = child;
  const id = String(i);
  const [next] = turns;
  const isShort = next && ledger.short(amounts(next.worst)).allowed.length > 0;
  const acts: (() => void)[] = [];
  const tell = (over = false) => {
    const wants = isShort ? ledger.lacks([amounts(next.worst)]) : undefined;
    if (over) ledger.giveBack();
    const report = reportOf({
      grants: child.grants,
      returned: { ...ledger.returned },
      settled: { ...ledger.settled },
      ...(over && { over: true }),
      ...(wants && isSome(wants) && { wants }),
    });
    const news = JSON.stringify([report.grants, report.wants, report.returned]);
    if (over || news !== child.told) up.push(report);
    child.told = news;
  };
  if (next && !isShort)
    acts.push(() => {
      const key = `${turns.length}`;
      ledger.reserve(key, amounts(next.worst));
      underWay.push({ key, ...turns.shift()! });
    });
  if (underWay.length > 0)
    acts.push(() => {
      const { key, cost } = underWay.shift()!;
      ledger.settle(recordWith({ key, usage: { input: 0, output: 0 }, usd: cost }));
    });
  if (isShort && child.refused) acts.push(() => void turns.shift());
  else if (isShort) acts.push(() => tell());
  if (up.length > 0) acts.push(() => top.hear(id, up.shift()!));
  if (down.length > 0)
    acts.push(() => {
      const { grants, granted, refused } = down.shift()!;
      child.grants = grants;
      ledger.granted = { usd: granted.usd };
      child.refused = refused === true;
    });
  const wants = top.wantsOf(id);
  if (wants) {
    const isShortAbove = top.short(wants).own.length > 0;
    if (!isShortAbove) acts.push(() => void down.push(top.grant(id, wants)!));
    else if (!top.mayRelease) acts.push(() => void down.push({ ...top.refuse(id)!, refused: true }));
  }
  if (!next && underWay.length === 0 && up.length === 0)
    acts.push(() => {
      tell(true);
      top.hear(id, up.shift()!);
      top.endChild(id);
      living.delete(i);
    });
  // Somebody else's turn: whoever waits, waits.
  return acts.length > 0 ? acts : [() => {}];
}

describe('a budget as anybody may have written it', () => {
  const toMs = (given: string | number) => {
    if (given === '1 minute') return 60_000;
    if (typeof given === 'number') return given;
    throw new TypeError('no duration');
  };

  test('is read with its duration in milliseconds', () => {
    expect(readBudget({ usd: 1, wallTime: '1 minute', onBreach: 'ask', audience: 'x' }, toMs)).toEqual({
      usd: 1,
      wallTimeMs: 60_000,
      onBreach: 'ask',
      audience: 'x',
    });
    expect(readBudget({}, toMs)).toEqual({});
  });

  test.each([
    null,
    1,
    [],
    { usd: Number.NaN },
    { usd: '1' },
    { wallTime: -1 },
    { wallTime: {} },
    { audience: 1 },
  ])('is refused with a reason: %j', (given) => {
    expect(readBudget(given, toMs)).toEqual(expect.any(String));
  });

  test.each<[unknown, boolean]>([
    [{ usd: 1 }, true],
    [{ wallTime: '10 minutes', turns: 2 }, true],
    [{ wallTime: 'soon' }, false],
    [{ usd: -1 }, false],
    [{}, false],
    [{ dollars: 1 }, false],
  ])('may be raised by %j: %s', (raise, fits) => {
    expect(whyNotFits(RAISE_SCHEMA, raise) === undefined).toBe(fits);
  });
});
