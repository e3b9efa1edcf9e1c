import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NotRecordableError, PayloadTooLargeError } from '../../src/index.ts';
import { assertFits, assertRecordable } from '../../src/loop/recordable.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/limits.ts';

const refusal = (value: unknown): string => {
  try {
    assertRecordable(value, 'The result of tool get_weather');
  } catch (error) {
    expect(error).toBeInstanceOf(NotRecordableError);
    return (error as Error).message;
  }
  throw new Error('It was not refused.');
};

test('everything that JSON can hold is recordable', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assertRecordable(value, 'it')));
});

describe('what JSON would lose is refused, with its path and what to return instead', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = { cycle };
  test.each([
    [{ id: 1n }, '"id" is a bigint', 'its text'],
    [{ by: { name: new Map() } }, '"by.name" is a Map', 'Object.fromEntries(map)'],
    [[{ tags: new Set() }], '"[0].tags" is a Set', '[...set]'],
    [{ image: Uint8Array.of(1) }, '"image" is bytes', 'their base64 text'],
    [{ image: Buffer.of(1) }, '"image" is bytes', 'their base64 text'],
    [{ image: new ArrayBuffer(1) }, '"image" is bytes', 'their base64 text'],
    [{ later: Promise.resolve(1) }, '"later" is a promise', 'what it resolves to'],
    [[() => 1], '"[0]" is a function', 'what it returns'],
    [cycle, '"self.cycle" is a cycle', 'a reference by id'],
    [5n, 'it is a bigint', 'its text'],
    [() => 1, 'it is a function', 'what it returns'],
  ])('%#: %s', (value, what, instead) => {
    expect(refusal(value)).toBe(
      `The result of tool get_weather cannot be recorded: ${what}. Use plain JSON, such as ${instead}.`,
    );
  });

  test('wherever it is', () => {
    const lost = fc.constantFrom<unknown>(
      1n,
      new Map(),
      new Set(),
      Uint8Array.of(1),
      Promise.resolve(),
      Symbol('x'),
    );
    const place = fc.array(fc.oneof(fc.constantFrom('a', 'b'), fc.nat({ max: 3 })), { maxLength: 5 });
    fc.assert(
      fc.property(fc.jsonValue(), lost, place, (around, value, path) => {
        let whole = value;
        for (const at of path) {
          if (typeof at === 'string') whole = { around, [at]: whole };
          else whole = [...Array<unknown>(at).fill(around), whole];
        }
        expect(() => assertRecordable(whole, 'it')).toThrow(NotRecordableError);
      }),
    );
  });
});

test('what JSON turns into text, leaves out or repeats is recordable', () => {
  const shared = { a: 1 };
  const value = {
    at: new Date(0),
    link: new URL('http://a'),
    none: undefined,
    method() {},
    twice: [shared, shared],
  };
  expect(() => assertRecordable(value, 'it')).not.toThrow();
  expect(() => assertRecordable(undefined, 'it')).not.toThrow();
});

test('a payload over the limit is refused with what it is, its bytes and the limit', () => {
  const fits = 'a'.repeat(MAX_PAYLOAD_BYTES - 2);
  expect(() => assertFits(fits, 'It', MAX_PAYLOAD_BYTES)).not.toThrow();
  expect(() => assertFits(`${fits}a`, 'It', Infinity)).not.toThrow();
  expect(() => assertFits(`${fits}a`, 'The result of tool read', MAX_PAYLOAD_BYTES)).toThrow(
    new PayloadTooLargeError(
      `The result of tool read has ${MAX_PAYLOAD_BYTES + 1} bytes; the limit for one payload is ${MAX_PAYLOAD_BYTES}. Give "blobs" to AgentsPlugin, and larger ones are kept there.`,
    ),
  );
  expect(() => assertFits('日'.repeat(MAX_PAYLOAD_BYTES / 3), 'It', MAX_PAYLOAD_BYTES)).toThrow(
    PayloadTooLargeError,
  );
});
