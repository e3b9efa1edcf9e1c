import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Timeline } from '../../src/report/timeline.ts';

test.each([
  [1, [0, 1]],
  [3_500, [0, 1_000, 2_000, 3_000]],
  [90_000, [0, 20_000, 40_000, 60_000, 80_000]],
  [5 * 86_400_000, [0, 1, 2, 3, 4, 5].map((day) => day * 86_400_000)],
])('a run of %d ms has marks at round times', (ms, marks) =>
  expect(new Timeline(5, 5 + ms).marks).toEqual(marks),
);

test('marks are few, whatever the time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 * 366 * 86_400_000 }), (ms) => {
      const { marks } = new Timeline(0, ms);
      expect(marks.length).toBeGreaterThanOrEqual(1);
      expect(marks.length).toBeLessThanOrEqual(40);
    }),
  );
});

test('a stretch is within the run, and wide enough to be seen', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer(), fc.nat(), fc.nat(), (from, start, ms, length) => {
      const { left, width } = new Timeline(from, from + ms).stretch(start, start + length);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(width).toBeGreaterThanOrEqual(0.3 - 1e-9);
      expect(left + width).toBeLessThanOrEqual(100 + 1e-9);
    }),
  );
});

test('what overlaps leaves no gap, and what is short is none', () => {
  const busy = [
    { from: 0, to: 50_000 },
    { from: 1_000, to: 2_000 },
    { from: 51_000, to: 60_000 },
  ];
  expect(new Timeline(0, 100_000).gaps(busy)).toEqual([{ from: 60_000, to: 100_000 }]);
});
