import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { jsonBytes, largestRecord, RunRecords } from '../../src/records/run-records.ts';
import { recordWith } from '../kit/record.ts';

const record = (key: string, value: unknown = null) => recordWith({ key, value });

test('the first answer to a key stands, and answers keep the order in which they came', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat())), (answers) => {
      const records = new RunRecords();
      const first = new Map<string, number>();
      for (const [key, value] of answers) {
        expect(records.add(record(key, value))).toBe(!first.has(key));
        if (!first.has(key)) first.set(key, value);
      }
      expect(records.list.map(({ key, value }) => [key, value])).toEqual([...first]);
      expect(records.size).toBe(first.size);
      for (const key of 'abcdef') expect(records.has(key)).toBe(first.has(key));
    }),
  );
});

test('carried records count as answered in the next run of the chain', () => {
  const records = new RunRecords([record('a', 1), record('b', 2)]);
  expect(records.add(record('b', 3))).toBe(false);
  expect(records.add(record('c', 4))).toBe(true);
  expect(records.since(1).map(({ value }) => value)).toEqual([2, 4]);
  expect(records.since(3)).toEqual([]);
});

test('bytes are those of UTF-8 JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(jsonBytes(value)).toBe(Buffer.byteLength(JSON.stringify(value)));
    }),
  );
  expect(jsonBytes('héllo 日本')).toBe(15);
  expect(jsonBytes(undefined)).toBe(0);
});

test('the largest record is the one with the most bytes, not the most characters', () => {
  const ascii = record('ascii', 'a'.repeat(20));
  const wide = record('wide', '日'.repeat(10));
  expect(largestRecord([ascii, wide])).toEqual({ record: wide, bytes: jsonBytes(wide) });
  expect(largestRecord([])).toBeUndefined();
});
