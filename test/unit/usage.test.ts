import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addUsage } from '../../src/index.ts';

const tokens = fc.nat({ max: 1_000_000 });
const usage = fc.record(
  { input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens, reasoning: tokens },
  { requiredKeys: ['input', 'output'] },
);

test('the sum of usages does not depend on their order or grouping', () => {
  fc.assert(
    fc.property(usage, usage, usage, (a, b, c) => {
      expect(addUsage(a, b)).toEqual(addUsage(b, a));
      expect(addUsage(addUsage(a, b), c)).toEqual(addUsage(a, addUsage(b, c)));
    }),
  );
});

test('no tokens add nothing, and leave absent what is absent', () => {
  fc.assert(
    fc.property(usage, (a) => {
      expect(addUsage(a, { input: 0, output: 0 })).toEqual(a);
    }),
  );
});

test('every kind is added to its own', () => {
  const a = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5 };
  expect(addUsage(a, { input: 10, output: 20, cacheRead: 30, cacheWrite: 40, reasoning: 50 })).toEqual({
    input: 11,
    output: 22,
    cacheRead: 33,
    cacheWrite: 44,
    reasoning: 55,
  });
});
