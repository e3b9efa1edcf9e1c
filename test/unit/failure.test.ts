import { describe, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import { fromStepFailure, isFinal, toApplicationFailure, toStepFailure } from '../../src/errors/failure.ts';
import * as errors from '../../src/index.ts';
import type { StepFailure } from '../../src/protocol/step.ts';

const { AgentError, BlobStoreError, ConcurrencyError, ToolInputError, ToolRejectedError } = errors;

describe('an error as it is recorded', () => {
  test('keeps class, message, code and HTTP status, and no other field, which may hold a secret', () => {
    class RateLimitError extends Error {
      code = 'rate_limit';
      status = 429;
      headers = { authorization: 'Bearer secret' };
    }
    expect(toStepFailure(new RateLimitError('slow down'))).toEqual({
      name: 'RateLimitError',
      message: 'slow down',
      code: 'rate_limit',
      status: 429,
    });
  });

  test('has the type of an ApplicationFailure as its class', () => {
    expect(toStepFailure(ApplicationFailure.create({ message: 'no', type: 'CardDeclined' })).name).toBe(
      'CardDeclined',
    );
  });

  test('has its message cut at a bound', () => {
    expect(toStepFailure(new Error('x'.repeat(100_000))).message.length).toBeLessThan(8_100);
  });

  test('is plain JSON for whatever was thrown', () => {
    const thrown = fc.oneof(
      fc.anything({ withNullPrototype: true }),
      fc.record({
        name: fc.anything(),
        message: fc.anything(),
        code: fc.anything(),
        constructor: fc.anything(),
      }),
    );
    fc.assert(
      fc.property(thrown, (error) => {
        const failure = toStepFailure(error);
        expect(failure).toEqual(JSON.parse(JSON.stringify(failure)));
        expect(typeof failure.name).toBe('string');
        expect(typeof failure.message).toBe('string');
        expect(failure.name).not.toBe('');
      }),
    );
  });
});

describe('a recorded failure', () => {
  const failure: fc.Arbitrary<StepFailure> = fc.record(
    { name: fc.string({ minLength: 1 }), message: fc.string(), code: fc.string(), status: fc.nat() },
    { requiredKeys: ['name', 'message'] },
  );

  test('is the same error for the loop, and the same record again, any number of times', () => {
    fc.assert(
      fc.property(failure, (recorded) => {
        const error = fromStepFailure(recorded);
        expect(error).toBeInstanceOf(Error);
        expect({ name: error.name, message: error.message }).toEqual({
          name: recorded.name,
          message: recorded.message,
        });
        expect(toStepFailure(error)).toEqual(recorded);
      }),
    );
  });

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'of a class named %s is an error too',
    (name) => {
      const error = fromStepFailure({ name, message: 'no' });
      expect(error).toBeInstanceOf(Error);
      expect(error.name).toBe(name);
    },
  );

  test.each(
    Object.values(errors)
      .filter((value) => typeof value === 'function' && value.prototype instanceof AgentError)
      .map((value) => value as unknown as new (message: string) => Error)
      .map((Class) => [Class.name, Class] as const),
  )("of this package's %s is of that class again", (_name, Class) => {
    const error = fromStepFailure(toStepFailure(new Class('no')));
    expect(error).toBeInstanceOf(Class);
    expect(error.message).toBe('no');
  });
});

describe('starting the agent again is of no use', () => {
  const recorded = fromStepFailure({ name: 'RateLimitError', message: 'no' });
  test.each([
    ['after a recorded failure', recorded],
    ['after an error that a recorded failure caused', new Error('run failed', { cause: recorded })],
    ["after one of this package's errors", new ToolInputError('no')],
    ['after a failure that says so itself', ApplicationFailure.nonRetryable('no')],
  ])('%s', (_when, error) => expect(isFinal(error)).toBe(true));

  test.each([
    ['an error of its own code', new Error('no')],
    ['a store that cannot be reached', new BlobStoreError('no')],
    ['a retryable ApplicationFailure', ApplicationFailure.retryable('no')],
    ['a text', 'no'],
    ['nothing', undefined],
  ])('but not after %s', (_when, error) => expect(isFinal(error)).toBe(false));

  test('and causes that go in a circle end', () => {
    const error = new Error('a');
    error.cause = error;
    expect(isFinal(error)).toBe(false);
  });
});

describe("a tool's error on its way to Temporal", () => {
  test('is retryable under the name of its class, with code and status', () => {
    const error = Object.assign(new TypeError('no'), { code: 'E1', status: 503 });
    const failure = toApplicationFailure(error);
    expect(failure).toMatchObject({ type: 'TypeError', message: 'no', nonRetryable: false });
    expect(failure.details).toEqual([{ code: 'E1', status: 503 }]);
  });

  test('stays as it is, if it is an ApplicationFailure', () => {
    const own = ApplicationFailure.nonRetryable('no', 'Mine', { a: 1 });
    expect(toApplicationFailure(own)).toBe(own);
  });

  test('is not retried where trying again cannot help', () => {
    expect(toApplicationFailure(new ToolRejectedError('no')).nonRetryable).toBe(true);
    expect(toApplicationFailure(new BlobStoreError('no')).nonRetryable).toBe(false);
    const never = new BlobStoreError('too large', { retryable: false });
    expect([toApplicationFailure(never).nonRetryable, isFinal(never)]).toEqual([true, true]);
  });

  test.each([['abc'], [undefined]])(
    'says what is there, when somebody else wrote first: %s',
    (currentSha) => {
      const error = new ConcurrencyError('no', { ...(currentSha !== undefined && { currentSha }) });
      const again = fromStepFailure(toStepFailure(error));
      for (const one of [error, again]) expect(one).toMatchObject({ currentSha: currentSha ?? null });
    },
  );
});

test('errors of this package are known across copies of it', () => {
  const other = Object.assign(new Error('no'), { [Symbol.for('temporal-agents.error')]: true });
  expect(AgentError.is(other)).toBe(true);
  expect(AgentError.is(new Error('no'))).toBe(false);
  expect(AgentError.is(null)).toBe(false);
  expect(new ToolInputError('no').name).toBe('ToolInputError');
});

test('what cannot be read, or has a name of any size, is still described', () => {
  const unreadable = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no');
      },
    },
  );
  expect(toStepFailure(unreadable)).toEqual({
    name: 'Error',
    message: 'Something that cannot be read was thrown.',
  });
  expect(isFinal(unreadable)).toBe(false);
  const named = Object.assign(new Error('x'), { name: 'N'.repeat(100_000), code: 'C'.repeat(100_000) });
  expect(toStepFailure(named).name.length).toBeLessThan(10_000);
  expect(toStepFailure(named).code!.length).toBeLessThan(10_000);
});
