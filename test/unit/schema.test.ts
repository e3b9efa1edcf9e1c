import { describe, expect, test } from '@jest/globals';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';
import { DeclarationError } from '../../src/index.ts';
import { isSchema, toJsonSchema, validate } from '../../src/tools/schema.ts';

const refuse = (issues: string) => new Error(issues);

/** A schema of a library that is not zod: a function with the standard's property, as arktype's are. */
function foreign(check: StandardSchemaV1.Props['validate']): StandardSchemaV1 {
  return Object.assign(() => {}, {
    '~standard': { version: 1 as const, vendor: 'foreign', validate: check },
  });
}

describe('validation', () => {
  test('gives what the schema makes of the value', async () => {
    const schema = z.object({ n: z.string().transform(Number), kind: z.string().default('a') });
    expect(await validate(schema, { n: '3', more: 1 }, refuse)).toEqual({ n: 3, kind: 'a' });
  });

  test('waits for a schema that takes its time', async () => {
    const schema = z.string().refine(async (text) => text === 'yes', 'must be yes');
    expect(await validate(schema, 'yes', refuse)).toBe('yes');
    await expect(validate(schema, 'no', refuse)).rejects.toThrow('must be yes');
  });

  test('names the place of every issue', async () => {
    const schema = z.object({ user: z.object({ tags: z.array(z.string()) }), n: z.number() });
    await expect(validate(schema, { user: { tags: ['a', 1] }, n: 'x' }, refuse)).rejects.toThrow(
      /^user\.tags\.1: Invalid input.*; n: Invalid input/,
    );
    await expect(validate(z.string(), 1, refuse)).rejects.toThrow(/^Invalid input/);
  });

  test('takes issues of any library, with keys as objects or without a path', async () => {
    const schema = foreign(() => ({ issues: [{ message: 'a', path: [{ key: 'x' }, 0] }, { message: 'b' }] }));
    await expect(validate(schema, {}, refuse)).rejects.toThrow('x.0: a; b');
  });
});

describe('the JSON Schema of a tool', () => {
  test('is what the model may send, not what the body gets', () => {
    const schema = z.object({
      when: z.string().transform((text) => new Date(text)),
      size: z.number().default(1),
    });
    expect(toJsonSchema(schema, 'tool x')).toMatchObject({
      type: 'object',
      properties: { when: { type: 'string' }, size: { type: 'number', default: 1 } },
      required: ['when'],
    });
  });

  test('is taken as it is, where it is one already', () => {
    const schema = { type: 'object', properties: {} };
    expect(toJsonSchema(schema, 'tool x')).toBe(schema);
  });

  test('that cannot be made is an error that names the tool and says why', () => {
    const make = (field: z.ZodType) => () => toJsonSchema(z.object({ field }), 'tool get_weather');
    expect(make(z.date())).toThrow(DeclarationError);
    expect(make(z.date())).toThrow(
      /Cannot convert the parameters of tool get_weather to JSON Schema: .*Date/,
    );
    expect(make(z.bigint())).toThrow(/BigInt/);
  });

  test('of a library that cannot convert is an error that names the library', () => {
    expect(() =>
      toJsonSchema(
        foreign((value) => ({ value })),
        'tool x',
      ),
    ).toThrow(
      'Cannot convert the parameters of tool x to JSON Schema: foreign at this version cannot do it.',
    );
  });
});

test('a schema is whatever has the standard, be it an object or a function', () => {
  expect([z.string(), foreign((value) => ({ value }))].map(isSchema)).toEqual([true, true]);
  expect([{ type: 'object' }, () => {}, null, undefined, 'text'].map(isSchema)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});
