import { describe, expect, test } from '@jest/globals';
import type { RunCarry } from '../../src/protocol/advance.ts';
import { forkedCarry, resumedCarry } from '../../src/records/hand-over.ts';
import { recordWith } from '../kit/record.ts';

const answered = (key: string) => recordWith({ key, kind: 'turn', name: 'm', value: key });
const failed = (key: string, name = 'AuthenticationError', message = `${key} failed`) =>
  recordWith({ key, kind: 'tool', name: 'm', failure: { name, message } });
const carryOf = (changes: Partial<RunCarry>): RunCarry => ({
  version: 1,
  records: [],
  chain: 'chain',
  approvals: { minted: [], asked: [] },
  losses: [],
  sleeps: [],
  open: [],
  agentFailures: 2,
  ...changes,
});
const keys = ({ records }: Pick<RunCarry, 'records'>) => records.map(({ key }) => key);

describe('a run that is resumed', () => {
  test('asks the failures after the last success again, and keeps those that its agent survived', () => {
    const resumed = resumedCarry(
      carryOf({ records: [answered('a'), failed('b'), answered('c'), failed('d'), failed('e')] }),
    );
    expect(keys(resumed)).toEqual(['a', 'b', 'c']);
    expect(resumed.open).toEqual([
      ['d', false],
      ['e', false],
    ]);
    expect(resumed.reopened).toEqual(['d', 'e']);
    expect(resumed.agentFailures).toBe(0);
    expect(resumed.chain).toBe('chain');
  });

  test('asks that again with which it ended, although its clean-up went well after it', () => {
    const failure = { name: 'AuthenticationError', message: 'b failed' };
    const records = [answered('a'), failed('b'), answered('goodbye')];
    expect(keys(resumedCarry(carryOf({ records, failure })))).toEqual(['a', 'goodbye']);
    const wrapped = { name: 'Error', message: 'no idea' };
    expect(keys(resumedCarry(carryOf({ records, failure: wrapped })))).toEqual(['a', 'b', 'goodbye']);
  });

  test('does not just start again what may have had its effect, also when it is handed over once more', () => {
    const records = [answered('a'), failed('refund', 'UncertainStepError')];
    const resumed = resumedCarry(carryOf({ records, underWay: ['mail'] }));
    expect(resumed.underWay).toEqual(['mail', 'refund']);
    expect(resumedCarry(resumed).underWay).toEqual(['mail', 'refund']);
  });

  test('gives what waits for a person its time anew', () => {
    const open = { name: 'refund', prompt: 'Refund?', askedAt: 1_000, expiresAt: 2_000 };
    const decision = { approved: true, at: 5 };
    const approvals = {
      minted: [['refund', 2]] as [string, number][],
      asked: [
        ['k1', { id: 'refund-1', decision }],
        ['k2', { id: 'refund-2', open, escalated: 'approve' }],
      ] as RunCarry['approvals']['asked'],
    };
    expect(resumedCarry(carryOf({ approvals })).approvals).toEqual({
      minted: [['refund', 2]],
      asked: [
        ['k1', { id: 'refund-1', decision }],
        ['k2', { id: 'refund-2', open: { name: 'refund', prompt: 'Refund?', askedAt: 0 } }],
      ],
    });
  });
});

test('a fork knows the first answers, what was decided about them, and nothing that came later', () => {
  const decision = { approved: true, at: 5 };
  const approvals = {
    minted: [['refund', 7]] as [string, number][],
    asked: [
      ['b', { id: 'refund-1', decision }],
      ['c', { id: 'refund-2', decision }],
      ['d', { id: 'refund-3', open: { name: 'refund', prompt: 'Refund?', askedAt: 1 } }],
    ] as RunCarry['approvals']['asked'],
  };
  const records = [answered('a'), answered('b'), answered('c')];
  const whole = carryOf({ records, approvals, underWay: ['d'], open: [['d', false]], asksEffects: true });
  expect(forkedCarry(whole, 2)).toEqual({
    version: 1,
    records: records.slice(0, 2),
    approvals: { minted: [['refund', 1]], asked: [['b', { id: 'refund-1', decision }]] },
    losses: [],
    sleeps: [],
    open: [],
    agentFailures: 0,
    pinned: 2,
    paidBefore: 2,
  });
});
