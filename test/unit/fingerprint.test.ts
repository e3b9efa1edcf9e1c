import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fieldHashes, fingerprint } from '../../src/loop/fingerprint.ts';

const of = (request: unknown, changes: object = {}) =>
  fingerprint({ kind: 'turn', name: 'gpt', request, scope: '', ...changes });

describe('two requests have the same fingerprint', () => {
  test('when they differ only in the order of fields', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => expect(of(reversed(value))).toBe(of(value))));
  });

  test('when they differ only in fields that are undefined', () => {
    expect(of({ a: 1, b: undefined, c: { d: undefined } })).toBe(of({ a: 1, c: {} }));
  });

  test('when one came through JSON, as a recorded answer does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => expect(of(JSON.parse(JSON.stringify(value)))).toBe(of(value))),
    );
    expect(of({ at: new Date(0) })).toBe(of({ at: '1970-01-01T00:00:00.000Z' }));
  });

  test('when they hold the same bytes, in whatever view', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const within = new Uint8Array(Uint8Array.of(0, 1, 2, 3, 4).buffer, 1, 3);
    for (const same of [within, Buffer.from(bytes), bytes.buffer])
      expect(of({ image: same })).toBe(of({ image: bytes }));
  });
});

describe('two requests have different fingerprints', () => {
  test('when they differ in anything JSON can say', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        fc.pre(JSON.stringify(reversed(reversed(a))) !== JSON.stringify(reversed(reversed(b))));
        expect(of(a)).not.toBe(of(b));
      }),
    );
  });

  test.each([
    ['in kind', { kind: 'tool' }],
    ['in name', { name: 'gpt-5' }],
    ['in scope', { scope: 'abc' }],
  ])('when they differ %s', (_what, changes) => expect(of({}, changes)).not.toBe(of({})));

  test.each([
    ['the bytes of a view', Uint8Array.of(1), Uint8Array.of(2)],
    ['the bytes of a buffer', Uint8Array.of(1).buffer, Uint8Array.of(2).buffer],
    ['the entries of a Map', new Map([['a', 1]]), new Map([['a', 2]])],
    ['the members of a Set', new Set([1]), new Set([2])],
    ['a bigint', 1n, 2n],
    ['a pattern', /a/, /b/],
    ['an address', new URL('http://a'), new URL('http://b')],
  ])('when they differ in %s', (_what, a, b) => expect(of({ value: a })).not.toBe(of({ value: b })));
});

test('text that was cut in the middle of a character has a fingerprint, that of the text on the wire', () => {
  const cut = 'an emoji 😀'.slice(0, -1);
  expect(of({ text: cut, [cut]: 1 })).toBe(of({ text: 'an emoji \ufffd', 'an emoji \ufffd': 1 }));
  expect(of({ text: String.raw`\ud83d` })).not.toBe(of({ text: '\ufffd' }));
});

test('every request that JSON can hold has a fingerprint of 24 hex digits', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constant(undefined)), (value) => {
      expect(of(value)).toMatch(/^[0-9a-f]{24}$/);
    }),
  );
});

test('field hashes change for the changed fields alone', () => {
  const before = fieldHashes({
    instructions: 'be kind',
    model: 'gpt',
    tools: [{ name: 'a' }],
    gone: undefined,
  });
  const after = fieldHashes({ tools: [{ name: 'a' }], model: 'gpt', instructions: 'be brief' });
  expect(Object.keys(before).toSorted()).toEqual(['instructions', 'model', 'tools']);
  expect({ ...after, instructions: before['instructions'] }).toEqual(before);
  expect(after['instructions']).not.toBe(before['instructions']);
});

test('a request that is no object has one hash', () => {
  for (const request of ['text', 7, null, undefined, ['a']])
    expect(Object.keys(fieldHashes(request))).toEqual(['request']);
});

/** The same value with the fields of each object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([field, child]) => [field, reversed(child)] as const)
      .toReversed(),
  );
}
