import { AsyncLocalStorage } from 'node:async_hooks';
import { runOutside } from '../src/loop/current-loop.ts';
import type { StepRequest } from '../src/loop/step-request.ts';

type Closure = NonNullable<StepRequest['closure']>;

/**
 * A closure that runs where it was made, though an activity calls it: the framework's traces and whatever the user keeps
 * in `AsyncLocalStorage` are there. Only the run is not: what it calls are plain calls.
 */
export function keepContext(closure: Closure): Closure {
  const inContext = AsyncLocalStorage.snapshot();
  return (...call) => inContext(() => runOutside(() => closure(...call)));
}
