import { AsyncLocalStorage } from 'node:async_hooks';
import { runOutside } from '../src/loop/current-loop.ts';

/**
 * The body of a step, which runs where it was made, though an activity calls it: the framework's traces and whatever the
 * user keeps in `AsyncLocalStorage` are there. Only the run is not: what it calls are plain calls.
 */
export function keepContext<Args extends unknown[], Result>(
  body: (...args: Args) => Result,
): (...args: Args) => Result {
  const inContext = AsyncLocalStorage.snapshot();
  return (...args) => inContext(() => runOutside(() => body(...args)));
}
