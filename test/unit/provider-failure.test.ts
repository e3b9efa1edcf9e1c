import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import OpenAI from 'openai';
import { providerFailure } from '../../src/errors/provider-failure.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => void jest.restoreAllMocks());

const http = (status: number, headers: Record<string, string> = {}) =>
  OpenAI.APIError.generate(status, { error: { message: 'no', code: 'why' } }, 'no', new Headers(headers));
const passes = (error: unknown) => !providerFailure(error).nonRetryable;

describe('a failure of a provider passes', () => {
  test.each([408, 409, 425, 429, 500, 502, 503, 529])('with status %d', (status) =>
    expect(passes(http(status))).toBe(true),
  );

  test.each([
    ['a refused connection', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })],
    [
      'a reset within another error',
      new Error('x', { cause: Object.assign(new Error('y'), { code: 'ECONNRESET' }) }),
    ],
    ['a name that cannot be looked up', Object.assign(new Error('x'), { code: 'EAI_AGAIN' })],
    ['a timeout of undici', Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' })],
    ['a failed fetch', new TypeError('fetch failed')],
    ['a stream that broke', new TypeError('terminated')],
    ['a connection error of the OpenAI client', new OpenAI.APIConnectionError({ cause: new Error('x') })],
    ['a timeout of the OpenAI client', new OpenAI.APIConnectionTimeoutError()],
    ['an AbortSignal.timeout', new DOMException('x', 'TimeoutError')],
  ])('after %s', (_what, error) => expect(passes(error)).toBe(true));

  test('when the provider says so, whatever the status', () => {
    expect(passes(http(400, { 'x-should-retry': 'true' }))).toBe(true);
  });
});

describe('a failure of a provider is an answer', () => {
  test.each([400, 401, 403, 404, 413, 422])('with status %d', (status) =>
    expect(passes(http(status))).toBe(false),
  );

  test.each([
    ['an error of our own code', new TypeError('x is not a function')],
    ['a text', 'no'],
    ['nothing', undefined],
    ['an object of no class', Object.create(null)],
  ])('after %s', (_what, error) => expect(passes(error)).toBe(false));

  test('when the provider says so, whatever the status', () => {
    expect(passes(http(429, { 'x-should-retry': 'false' }))).toBe(false);
  });
});

describe('the wait before the next attempt is', () => {
  const wait = (headers: Record<string, string>, status = 429) => {
    const failure = providerFailure(http(status, headers));
    const [details] = failure.details as [{ retryAfterMs?: number }];
    // The converter does not read `nextRetryDelay` back, so the details must say the same.
    expect(details.retryAfterMs).toBe(failure.nextRetryDelay ?? undefined);
    return details.retryAfterMs;
  };

  test.each([
    ['in milliseconds', { 'retry-after-ms': '1500' }, 1_500],
    ['in seconds', { 'retry-after': '3' }, 3_000],
    ['in parts of a second', { 'retry-after': '0.25' }, 250],
    ['as a date', { 'retry-after': new Date(NOW + 90_000).toUTCString() }, 90_000],
    ['milliseconds rather than seconds', { 'retry-after-ms': '20', 'retry-after': '3' }, 20],
    ['ten minutes at most', { 'retry-after': '86400' }, 600_000],
    ['ten minutes at most, as a date', { 'retry-after': new Date(NOW + 86_400_000).toUTCString() }, 600_000],
    ['seconds, if the milliseconds make no sense', { 'retry-after-ms': 'soon', 'retry-after': '3' }, 3_000],
  ])('what the provider asks: %s', (_form, headers, expected) => expect(wait(headers)).toBe(expected));

  test.each([
    ['nothing is asked', {}],
    ['zero is asked', { 'retry-after': '0' }],
    ['a time in the past is asked', { 'retry-after': new Date(NOW - 1_000).toUTCString() }],
    ['it is negative', { 'retry-after': '-5' }],
    ['it makes no sense', { 'retry-after': 'later' }],
  ])("left to the step's own policy, if %s", (_form, headers) => expect(wait(headers)).toBeUndefined());

  test('not asked for where trying again cannot help', () => {
    expect(wait({ 'retry-after': '3' }, 401)).toBeUndefined();
  });

  test('between nothing and ten minutes, whatever the headers say', () => {
    fc.assert(
      fc.property(fc.record({ 'retry-after': fc.anything(), 'retry-after-ms': fc.anything() }), (headers) => {
        const { nextRetryDelay } = providerFailure({ status: 429, headers });
        if (nextRetryDelay === undefined || nextRetryDelay === null) return;
        expect(nextRetryDelay).toBeGreaterThan(0);
        expect(nextRetryDelay).toBeLessThanOrEqual(600_000);
      }),
    );
  });
});

test('class, message, code and status go along', () => {
  const failure = providerFailure(http(429));
  expect(failure).toMatchObject({ type: 'RateLimitError', nonRetryable: false });
  expect(failure.details).toEqual([{ code: 'why', status: 429, recoverable: true, retryAfterMs: undefined }]);
});

test('an ApplicationFailure stays as it is', () => {
  const own = ApplicationFailure.nonRetryable('no', 'Mine');
  expect(providerFailure(own)).toBe(own);
});
