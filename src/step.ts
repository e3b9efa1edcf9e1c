/** What an agent's own code can make durable, beside model turns and tools. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Duration, RetryPolicy } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { toApplicationFailure } from './errors/failure.ts';
import { askStep, insideRun } from './loop/ask.ts';
import { assertRecordable } from './loop/recordable.ts';
import { assertLimits, retryPolicy } from './tools/retries-and-timeouts.ts';

/** How a step is run. */
export interface StepCallOptions {
  /** How often the step is tried again after it threw, or Temporal's own policy. @default 2, after 1 s and 2 s */
  retries?: number | RetryPolicy;
  /** Temporal's `startToCloseTimeout`: the longest that one attempt may take. @default '10 minutes' */
  timeout?: Duration;
}

/**
 * Runs a piece of the agent's own code once: its result is recorded, and served after a restart.
 * It runs in the agent's process. What it returns must be plain JSON.
 * @param name tells the steps of a run apart; the n-th step of a name is the n-th again after a restart
 * @throws whatever `run` threw last, by name, message, code and status; DeclarationError for options that cannot be meant
 */
export async function step<T>(
  name: string,
  run: (context: { signal: AbortSignal }) => Promise<T> | T,
  options: StepCallOptions = {},
): Promise<T> {
  assertLimits(options, ['timeout'], `Cannot take step ${name}`);
  if (!insideRun()) return await run({ signal: new AbortController().signal });
  const code = async (signal: AbortSignal) => {
    const value = await run({ signal });
    assertRecordable(value, `The result of step ${name}`);
    return value;
  };
  return await askForCode<T>(name, {}, code, { ...options, retries: options.retries ?? 2 });
}

/** Asks for a step that is code of the user's. @param request what affects its answer, beside its name */
export async function askForCode<T>(
  name: string,
  request: object,
  code: (signal: AbortSignal) => Promise<T>,
  { retries = 0, timeout }: StepCallOptions,
): Promise<T> {
  return await askStep<T>({
    kind: 'step',
    name,
    request,
    options: {
      retry: retryPolicy(retries),
      ...(timeout !== undefined && { startToCloseTimeout: timeout }),
    },
    closure: async (signal) => {
      try {
        const value = await code(signal);
        return value === undefined ? {} : { value };
      } catch (error) {
        throw toApplicationFailure(error);
      }
    },
  });
}

/** Waits durably: a timer of the run, which costs nothing while it waits. Outside a run, an ordinary timer. */
export async function sleep(duration: Duration): Promise<void> {
  const milliseconds = msToNumber(duration);
  if (insideRun())
    await askStep<void>({ kind: 'sleep', name: 'sleep', request: { milliseconds }, input: milliseconds });
  else await delay(milliseconds);
}
