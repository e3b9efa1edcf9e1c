/** What `retries` and durations may be, and mean, for a tool and a named step alike. */
import type { Duration, RetryPolicy } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { DeclarationError } from '../errors/index.ts';

/** @throws DeclarationError for what cannot be meant by `retries` and the named durations */
export function assertLimits(limits: object, durations: readonly string[], cannot: string): void {
  const given = limits as Record<string, unknown>;
  const { retries } = given;
  if (typeof retries === 'number' && !(Number.isInteger(retries) && retries >= 0)) {
    throw new DeclarationError(`${cannot}: "retries" must be a whole number, 0 or more.`);
  }
  for (const option of durations) {
    const duration = given[option];
    if (duration !== undefined && !isDuration(duration as Duration)) {
      throw new DeclarationError(
        `${cannot}: "${option}" is ${JSON.stringify(duration)}. Use milliseconds or a text such as '5 minutes'.`,
      );
    }
  }
}

/** What `retries` means in Temporal's words. */
export function retryPolicy(retries: number | RetryPolicy): RetryPolicy {
  return typeof retries === 'number' ? { maximumAttempts: retries + 1 } : retries;
}

/** Whether it is a duration above 0, in milliseconds or as a text. */
export function isDuration(value: Duration): boolean {
  try {
    return msToNumber(value) > 0;
  } catch {
    return false;
  }
}
