/** What people say to a running agent: the signal `message`. */
import type { Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { UnsupportedError } from './errors/index.ts';
import { assertKnownOptions } from './known-options.ts';
import { askStep, insideRun } from './loop/ask.ts';
import type { Message } from './protocol/signals.ts';
import { assertLimits } from './tools/retries-and-timeouts.ts';

/** How the next message is waited for. */
export interface NextMessageOptions {
  /** How long, from when it was first asked for: milliseconds, or a text such as '1 day'. @default for ever */
  timeout?: Duration;
}

/** What was said to the run that the running code is part of. */
export const inbox = {
  /**
   * The next message, as a recorded step: each is given once, in the order in which they came, also those that came before
   * it was asked for. `undefined`: none came in time. What nobody has read when the run ends is refused.
   * @throws UnsupportedError outside a run; DeclarationError for options that cannot be meant
   */
  async next(options: NextMessageOptions = {}): Promise<Message | undefined> {
    assertKnownOptions(options, new Set(['timeout']), 'Cannot wait for a message');
    assertLimits(options, ['timeout'], 'Cannot wait for a message');
    const { timeout } = options;
    const input = timeout === undefined ? {} : { timeoutMs: msToNumber(timeout) };
    return await read<Message | undefined>('next', input);
  },
};

/** All messages that nobody waits for, as a recorded step. */
export async function unreadMessages(): Promise<Message[]> {
  return await read<Message[]>('all', { all: true });
}

async function read<T>(which: string, input: object): Promise<T> {
  if (!insideRun())
    throw new UnsupportedError(
      'Cannot read messages outside a run: nobody can send any. Start the agent on Temporal.',
    );
  return await askStep<T>({ kind: 'message', name: 'message', request: { which }, input });
}
