import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { DeclarationError } from '../../src/index.ts';
import { PRICE_TABLE, Prices } from '../../src/prices/prices.ts';
import { packParts, replacedTurn } from '../../src/records/misses.ts';
import { RunSpending } from '../../src/records/run-spending.ts';
import { addSpent, nothingSpent, spentOn } from '../../src/records/spent.ts';
import { recordWith } from '../kit/record.ts';

const usage = { input: 1_000, output: 100, cacheRead: 400, reasoning: 30 };
const turn = (more = {}) => recordWith({ usage, usd: 0.5, ...more });
const spent = (turns: number, usd = turns * 0.5) => ({
  turns,
  usage: { input: 1_000 * turns, output: 100 * turns, cacheRead: 400 * turns, reasoning: 30 * turns },
  usd,
  unpriced: [],
});

describe('prices', () => {
  test('are those of the table, with the cache and sound at their own', async () => {
    const prices = new Prices();
    // OpenAI's price list: $2 in, $0.50 from the cache, $8 out for a million.
    expect(await prices.usdOf('gpt-4.1', { input: 1_000_000, output: 0 })).toBeCloseTo(2, 10);
    expect(
      await prices.usdOf('gpt-4.1', { input: 1_000_000, output: 100_000, cacheRead: 400_000 }),
    ).toBeCloseTo(0.6 * 2 + 0.4 * 0.5 + 0.1 * 8, 10);
    expect(await prices.usdOf('gpt-4.1-2025-04-14', { input: 1_000_000, output: 0 })).toBeCloseTo(2, 10);
    expect(prices.table).toBe(PRICE_TABLE);
  });

  test('are not known for every model, nor for counts that do not add up', async () => {
    const prices = new Prices();
    expect(await prices.usdOf('my-own-model', usage)).toBeUndefined();
    expect(await prices.usdOf('gpt-4.1', { input: 10, output: 1, cacheRead: 20 })).toBeUndefined();
  });

  test("may be one's own, which come first", async () => {
    const prices = new Prices({
      'gpt-4.1': { input: 1, output: 2 },
      mine: { input: 10, output: 20, cacheRead: 1, cacheWrite: 30 },
    });
    expect(await prices.usdOf('gpt-4.1', { input: 1_000_000, output: 500_000, cacheRead: 9 })).toBeCloseTo(
      2,
      10,
    );
    const written = { input: 1_000_000, output: 0, cacheRead: 500_000, cacheWrite: 100_000 };
    expect(await prices.usdOf('mine', written)).toBeCloseTo(0.4 * 10 + 0.5 * 1 + 0.1 * 30, 10);
    expect(prices.table).toBe(`own prices, ${PRICE_TABLE}`);
  });

  test.each([
    { m: { input: 1 } },
    { m: { input: -1, output: 1 } },
    { m: { input: 1, output: 1, cached: 1 } },
    { m: null },
  ])('that cannot be meant are refused: %j', (own) => {
    expect(() => new Prices(own as never)).toThrow(DeclarationError);
  });

  test('name the table that is installed', () => {
    const path = new URL('../../node_modules/@pydantic/genai-prices/package.json', import.meta.url);
    const { name, version } = JSON.parse(readFileSync(path, 'utf8')) as { name: string; version: string };
    expect(PRICE_TABLE).toBe(`${name} ${version}`);
  });
});

describe('what a run has spent', () => {
  test('is the sum of its turns; what is not priced is named once', () => {
    const records = [
      turn(),
      recordWith({ kind: 'tool' }),
      turn(),
      turn({ name: 'm', usd: undefined }),
      turn({ name: 'm', usd: undefined }),
    ];
    expect(spentOn(records)).toEqual({ ...spent(4, 1), unpriced: ['m'] });
    expect(addSpent(spentOn(records), spentOn(records))).toEqual({ ...spent(8, 2), unpriced: ['m'] });
  });

  test('is told apart from what vanished, what the run before had paid, and what restarts did not ask again', () => {
    const list = [turn(), turn({ lost: 2 })];
    const spending = new RunSpending({ list }, { paidBefore: 1 });
    for (const records of [0, 2, 1]) spending.replayed(records, 30);
    spending.childSpent(spent(3));
    list.push(
      turn(),
      recordWith({ kind: 'tool', cached: { workflowId: 'w', runId: 'r', at: 1, durationMs: 5_000 } }),
    );
    expect(spending.usage('table')).toEqual({
      own: spent(2),
      children: spent(3),
      lost: spent(2),
      replayed: { ...spent(3), restarts: 2, ms: 60 },
      before: spent(1),
      cached: { calls: 1, durationMs: 5_000 },
      priceTable: 'table',
    });
    expect(spending.all).toEqual(spent(7));
    const next = new RunSpending({ list }, JSON.parse(JSON.stringify(spending.carry())));
    expect(next.usage('table')).toEqual(spending.usage('table'));
    expect(nothingSpent().turns).toBe(0);
  });

  test('says which of its records restarts gave again: the last 20, also those before it continued as new', () => {
    const list = [turn(), turn(), turn()];
    const spending = new RunSpending({ list });
    for (let restart = 0; restart < 15; restart++) spending.replayed(1, 10);
    spending.replayed(2, 10);
    expect([0, 1, 2].map((no) => spending.timesReplayed(no))).toEqual([16, 1, 0]);
    const next = new RunSpending({ list }, JSON.parse(JSON.stringify(spending.carry())));
    for (let restart = 0; restart < 10; restart++) next.replayed(3, 10);
    expect([0, 1, 2].map((no) => next.timesReplayed(no))).toEqual([20, 11, 10]);
    expect(next.usage('table').replayed).toMatchObject({ restarts: 26, ms: 260 });
  });
});

describe('why a turn is asked anew', () => {
  const parts = (changes = {}) => ({ instructions: 'aaaa1', messages: 'bbbb1', model: 'cccc1', ...changes });
  const recorded = (changes = {}) => recordWith({ name: 'm', parts: packParts(parts(changes)) });

  test('is said by the fields in which it differs from the recorded one that is most like it', () => {
    const records = [recorded({ messages: 'dddd', instructions: 'ffff' }), recorded({ messages: 'eeee' })];
    expect(replacedTurn(parts(), records)).toEqual({ record: records[1], changed: ['messages'] });
    expect(replacedTurn(parts(), records.slice(0, 1))?.changed).toEqual(['instructions', 'messages']);
  });

  test('is not said where none has the same fields', () => {
    expect(replacedTurn(parts(), [])).toBeUndefined();
    expect(replacedTurn({ ...parts(), more: '1234' }, [recorded()])).toBeUndefined();
    expect(replacedTurn(parts(), [recordWith({ name: 'm' })])).toBeUndefined();
  });
});
