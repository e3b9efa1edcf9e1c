/** A wait for people that a signal of the user's code ends. */
import { runInScope, currentPosition } from '../../src/loop/current-loop.ts';
import { scopeKey } from '../../src/loop/ask.ts';
import { askForCode } from '../../src/step.ts';

/** Why nobody is waited for any longer. */
interface GivenUp {
  name: string;
  message: string;
}
const NAME = 'give up waiting';

/**
 * Waits until a signal fires. That it did is recorded before anybody is told: a loop that is built again gives up, too, though
 * its signal has not fired, and though a person may have answered since.
 * @param asked tells this wait from others
 */
export async function untilGivenUp<T>(
  signal: AbortSignal | undefined,
  asked: unknown,
  wait: () => Promise<T>,
): Promise<T> {
  if (!signal) return await wait();
  const { loop } = currentPosition()!;
  const scope = scopeKey('wait', NAME, { asked });
  const giveUp = async (reason?: Error): Promise<never> => {
    const said = { name: reason?.name ?? 'Error', message: reason?.message ?? '' };
    const given = await runInScope(scope, async () => await askForCode(NAME, {}, async () => said, {}));
    throw reason ?? errorOf(given);
  };
  const waits = wait();
  if (loop.answerBefore({ kind: 'step', name: NAME, request: {}, scope }) !== undefined) {
    // Nobody is told what became of it.
    waits.catch(() => {});
    return await giveUp();
  }
  const { promise: aborted, resolve: abort } = Promise.withResolvers<'aborted'>();
  const onAbort = () => abort('aborted');
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    const first = await Promise.race([waits.then((value) => ({ value })), aborted]);
    return first === 'aborted' ? await giveUp(signal.reason as Error) : first.value;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function errorOf({ name, message }: GivenUp): Error {
  return Object.assign(new Error(message), { name });
}
