import { describe, expect, test } from '@jest/globals';
import { CARRY_SCHEMA } from '../../src/records/carry-schema.ts';
import { whyNotFits } from '../../src/records/fits-schema.ts';
import { noCarry } from '../../src/records/hand-over.ts';
import { askedOf, reportSteps, type RunOfSteps, startOfText } from '../../src/records/run-report.ts';
import { jsonBytes } from '../../src/records/run-records.ts';
import { nothingSpent } from '../../src/records/spent.ts';
import { recordWith } from '../kit/record.ts';

const run: RunOfSteps = {
  workflowId: 'w',
  paidBefore: 0,
  timesReplayed: () => 0,
  decidedAt: () => undefined,
};

describe('steps as a report shows them', () => {
  test('are as many as one answer can have, whatever they hold', () => {
    const chinese = recordWith({ value: '报'.repeat(10_000), asked: '告'.repeat(120) });
    const steps = reportSteps(
      Array.from({ length: 1_000 }, () => chinese),
      7,
      run,
    );
    expect(steps.length).toBeGreaterThan(300);
    expect(steps.length).toBeLessThan(1_000);
    expect(jsonBytes(steps)).toBeLessThan(700_000);
    expect(steps.map(({ no }) => no)).toEqual(steps.map((_, i) => 7 + i));
  });

  test('are at least one, so that whoever asks for the next comes to the end', () => {
    const huge = recordWith({ name: 'x'.repeat(1_000_000) });
    expect(reportSteps([huge, huge], 0, run)).toHaveLength(1);
  });

  test('have the start of the answer, and its whole size', () => {
    const [step, none] = reportSteps([recordWith({ value: '€'.repeat(1_000) }), recordWith({})], 0, run);
    expect(step).toMatchObject({ answer: `"${'€'.repeat(299)}…`, bytes: 3_002 });
    expect([none!.answer, none!.bytes]).toEqual([undefined, 0]);
  });

  test('say how often restarts gave them again, and when they were decided', () => {
    const steps = reportSteps([recordWith({ key: 'a' }), recordWith({ key: 'b' })], 3, {
      ...run,
      timesReplayed: (no) => 5 - no,
      decidedAt: (key) => (key === 'b' ? 99 : undefined),
    });
    expect(steps.map(({ replayed, decidedAt }) => [replayed, decidedAt])).toEqual([
      [2, undefined],
      [1, 99],
    ]);
  });
});

test('what a step is asked is its input, or what a turn says it is', () => {
  expect(askedOf({ input: { a: 1 } })).toEqual({ asked: '{"a":1}' });
  expect(askedOf({ asked: 'What of it?' })).toEqual({ asked: 'What of it?' });
  expect(askedOf({})).toEqual({});
});

test('the start of a text ends with a whole character', () => {
  expect(startOfText('abc', 3)).toBe('abc');
  expect(startOfText('abcd', 3)).toBe('abc…');
  expect(startOfText('ab👍d', 3)).toBe('ab…');
});

test('a run takes what was carried over of restarts, and nothing else', () => {
  const carrying = (more: object) => ({
    ...noCarry('c'),
    replayed: { ...nothingSpent(), restarts: 2, ms: 9, last: [2, 3], ...more },
  });
  expect(whyNotFits(CARRY_SCHEMA, carrying({}))).toBeUndefined();
  expect(whyNotFits(CARRY_SCHEMA, carrying({ last: [{ at: 1 }] }))).toBeDefined();
  expect(whyNotFits(CARRY_SCHEMA, carrying({ ms: 'x' }))).toBeDefined();
});
