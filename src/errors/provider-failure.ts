/** Which failures of a model's provider pass, and when to try again. */
import { ApplicationFailure } from '@temporalio/common';
import { toStepFailure, withStackOf } from './failure.ts';

/** Statuses that may pass: timeout, conflict, too early, too many requests; and all of 5xx. */
const PASSING = new Set([408, 409, 425, 429]);
/** What Node and undici call a network that failed. */
const NETWORK_CODE = /^(E(CONN|HOST|NET|PIPE|AI_AGAIN|NOTFOUND|TIMEDOUT)|UND_ERR_)/;
const NETWORK_NAME = /^(APIConnection|FetchError|ConnectTimeout|Timeout|AbortError)/;
const NETWORK_TEXT = /^(fetch failed|terminated|socket hang up|network error|Connection error)/i;
/** Longest wait that a provider's Retry-After may ask of us, in milliseconds. */
const LONGEST_WAIT = 10 * 60_000;

/**
 * The failure of a model turn. Recoverable (network, 408, 409, 425, 429, 5xx, or `x-should-retry: true`): retryable,
 * after the delay the provider asks for. Anything else is terminal: it is recorded, and given to the framework again.
 */
export function providerFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const { name, message, code, status } = toStepFailure(error);
  const recoverable = isRecoverable(error, status);
  const retryAfterMs = recoverable ? retryAfter(error) : undefined;
  const failure = ApplicationFailure.create({
    message,
    type: name,
    nonRetryable: !recoverable,
    // The delay also goes into the details: the failure converter writes `nextRetryDelay` but does not read it back.
    details: [{ code, status, recoverable, retryAfterMs }],
    ...(retryAfterMs !== undefined && { nextRetryDelay: retryAfterMs }),
  });
  return withStackOf(error, failure);
}

function isRecoverable(error: unknown, status: number | undefined): boolean {
  const hint = header(error, 'x-should-retry');
  if (hint === 'true' || hint === 'false') return hint === 'true';
  if (status !== undefined) return PASSING.has(status) || status >= 500;
  for (let cause = error, depth = 0; typeof cause === 'object' && cause !== null && depth < 5; depth++) {
    const { name, code, message, constructor } = cause as Record<string, unknown> & {
      constructor: { name: string };
    };
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
    if (NETWORK_NAME.test(String(name)) || NETWORK_NAME.test(constructor?.name ?? '')) return true;
    if (NETWORK_TEXT.test(String(message))) return true;
    cause = (cause as { cause?: unknown }).cause;
  }
  return false;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date, in milliseconds. */
function retryAfter(error: unknown): number | undefined {
  const milliseconds = Number(header(error, 'retry-after-ms'));
  if (milliseconds > 0) return Math.min(milliseconds, LONGEST_WAIT);
  const value = header(error, 'retry-after');
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const wait = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1_000;
  return wait > 0 ? Math.min(wait, LONGEST_WAIT) : undefined;
}

function header(error: unknown, name: string): string | undefined {
  const { headers } = (error ?? {}) as { headers?: unknown };
  if (typeof headers !== 'object' || headers === null) return undefined;
  if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? undefined;
  const value = (headers as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}
