import { describe, expect, test } from '@jest/globals';
import {
  agentBackoff,
  callOutcome,
  hasNotBegun,
  isUnregistered,
  isWatched,
  stepFailure,
  toolOutcome,
  type ActivityOutcome,
} from '../../src/records/outcomes.ts';

const failed = (changes: Partial<ActivityOutcome> = {}): ActivityOutcome => ({ message: 'no', ...changes });
const unregistered = failed({
  type: 'NotFoundError',
  message: "Activity function agents.turn is not registered on this Worker, available activities: ['search']",
});

describe('the failure of a closure in the host', () => {
  test.each([
    [
      'a heartbeat timeout is a killed host, on whichever attempt',
      { timeout: 'HEARTBEAT' },
      'killed',
      'killed',
    ],
    [
      'a host queue that nobody polls is a lost host, never a killed one',
      { timeout: 'SCHEDULE_TO_START' },
      'lost',
      'lost',
    ],
    [
      "our worker's shutdown is a lost host, never a failure of the step",
      { type: 'WorkerShutdownError' },
      'lost',
      'lost',
    ],
    [
      "Core's own shutdown is a lost host, never a failure of the step",
      { type: 'WorkerShutdown' },
      'lost',
      'lost',
    ],
    [
      'a shutdown stays a lost host though it is marked non-retryable',
      { type: 'WorkerShutdownError', nonRetryable: true },
      'lost',
      'lost',
    ],
    [
      'a failure that may pass is tried again on the host, whose own retries end in a record',
      { type: 'RateLimitError' },
      'retry',
      'record',
    ],
    [
      'a terminal failure is an answer at once',
      { type: 'AuthenticationError', nonRetryable: true },
      'record',
      'record',
    ],
    [
      'a call that took too long is tried again, and its last attempt is an answer',
      { timeout: 'START_TO_CLOSE' },
      'retry',
      'record',
    ],
    ['a call that its own process gave up is the same', { type: 'TimeoutError' }, 'retry', 'record'],
  ])('%s', (_promise, changes, first, later) => {
    expect(callOutcome(failed(changes), true, 'retry')).toBe(first);
    expect(callOutcome(failed(changes), false, 'retry')).toBe(later);
  });

  test('a worker that has no such activity passes the call on to the host', () => {
    expect(callOutcome(unregistered, true, 'ask')).toBe('moved');
  });

  test("a NotFoundError of the user's own is no missing activity", () => {
    const own = failed({ type: 'NotFoundError', message: 'Account 7 is not registered.' });
    expect(isUnregistered(own)).toBe(false);
    expect(isUnregistered(unregistered)).toBe(true);
    expect(hasNotBegun(unregistered)).toBe(true);
    const away = { type: 'BlobStoreError', message: 'Cannot write blob a' };
    expect(hasNotBegun(away)).toBe(false);
    expect(
      hasNotBegun({ ...away, message: 'Failed to parse activity args for activity a: Cannot read' }),
    ).toBe(true);
    expect(callOutcome({ ...own, nonRetryable: true }, true, 'retry')).toBe('record');
  });

  test.each(['ask', 'fail'] as const)(
    'a call that took too long is uncertain where the rule is to %s',
    (rule) => {
      expect(callOutcome(failed({ timeout: 'START_TO_CLOSE' }), true, rule)).toBe('uncertain');
      expect(callOutcome(failed({ type: 'TimeoutError' }), false, rule)).toBe('uncertain');
      expect(callOutcome(failed({ type: 'Error' }), true, rule)).toBe('retry');
    },
  );
});

describe('the failure of a tool', () => {
  test.each([
    ['a tool that threw is known to have failed, whatever the rule', { type: 'Error' }, 'record', 'record'],
    [
      'an attempt whose worker vanished is uncertain, unless the rule is to retry',
      { timeout: 'HEARTBEAT' },
      'record',
      'uncertain',
    ],
    [
      'an attempt that took too long is uncertain, unless the rule is to retry',
      { timeout: 'START_TO_CLOSE' },
      'record',
      'uncertain',
    ],
    [
      'a shutdown under a tool is run again, or uncertain',
      { type: 'WorkerShutdownError' },
      'again',
      'uncertain',
    ],
    [
      "Core's shutdown under a tool is run again, or uncertain",
      { type: 'WorkerShutdown' },
      'again',
      'uncertain',
    ],
  ])('%s', (_promise, changes, retry, other) => {
    expect(toolOutcome(failed(changes), 'retry')).toBe(retry);
    expect(toolOutcome(failed(changes), 'ask')).toBe(other);
    expect(toolOutcome(failed(changes), 'fail')).toBe(other);
  });

  test('a worker without the tool did nothing, so another is asked, whatever the rule', () => {
    for (const rule of ['retry', 'ask', 'fail'] as const)
      expect(toolOutcome(unregistered, rule)).toBe('again');
  });
});

describe('the record of a failure', () => {
  test('keeps class, message, code and status, and nothing else of the details', () => {
    const details = { code: 'rate_limit', status: 429, recoverable: true, retryAfterMs: 3_000 };
    expect(
      stepFailure('turn gpt', failed({ type: 'RateLimitError', message: 'slow down', details })),
    ).toEqual({
      name: 'RateLimitError',
      message: 'slow down',
      code: 'rate_limit',
      status: 429,
      recoverable: true,
    });
  });

  test('of a timeout says what timed out and how, and that it may pass', () => {
    expect(stepFailure('tool search', failed({ timeout: 'HEARTBEAT' }))).toEqual({
      name: 'TimeoutError',
      message: 'tool search timed out (HEARTBEAT)',
      recoverable: true,
    });
  });

  test('of a terminal failure does not say that it may pass', () => {
    const details = { status: 401, recoverable: false };
    expect(stepFailure('turn gpt', failed({ details }))).toEqual({
      name: 'Error',
      message: 'no',
      status: 401,
    });
  });
});

describe('a loop is watched', () => {
  test.each([
    [
      'by a turn, a tool or a step in flight',
      { inFlight: ['approval', 'tool'], watching: false, quiet: false },
      true,
    ],
    ['by a watch', { inFlight: [], watching: true, quiet: false }, true],
    [
      'by the answer of a long wait, once it has been quiet',
      { inFlight: ['approval'], watching: false, quiet: true },
      true,
    ],
  ])('%s', (_promise, state, watched) => expect(isWatched(state)).toBe(watched));

  test.each([['approval'], ['sleep'], ['agent']])('not by a fresh %s alone', (kind) => {
    expect(isWatched({ inFlight: [kind], watching: false, quiet: false })).toBe(false);
  });

  test('not by being quiet, where nothing is in flight whose answer would tell', () => {
    expect(isWatched({ inFlight: [], watching: false, quiet: true })).toBe(false);
  });
});

test("the agent's function is started again after 1 s, 2 s, 4 s, … at most a minute", () => {
  expect([1, 2, 3, 4].map(agentBackoff)).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect([7, 50, 2_000].map(agentBackoff)).toEqual([60_000, 60_000, 60_000]);
});
