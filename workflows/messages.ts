/** What people say to a run, for the step that reads it. */
import * as wf from '@temporalio/workflow';
import type { Message } from '../src/protocol/signals.ts';
import type { InFlight, StepContext } from './step-context.ts';

/** What a step that reads messages wants: all that there are now, or the next one, within so many milliseconds. */
type Reading = { all: true } | { timeoutMs?: number };

export async function read(run: StepContext, { step }: InFlight): Promise<Message[] | Message | undefined> {
  const reading = step.input as Reading;
  if ('all' in reading) {
    await run.link.mayAct();
    // As many as that answer of the loop took account of: a replay may know of more by now.
    return run.inbox.takeUpTo(run.link.messagesTaken);
  }
  return await next(run, step.key, reading.timeoutMs);
}

async function next(
  run: StepContext,
  key: string,
  timeoutMs: number | undefined,
): Promise<Message | undefined> {
  const { inbox, sleeps } = run;
  const timer = new wf.CancellationScope();
  let late = false;
  const expire = async (due: number) => {
    await wf.sleep(Math.max(1, due - Date.now()), { summary: 'until no message is waited for' });
    late = !inbox.has(key);
    if (late) inbox.leave(key);
  };
  inbox.wait(key);
  if (timeoutMs !== undefined) {
    const due = sleeps.get(key) ?? Date.now() + timeoutMs;
    sleeps.set(key, due);
    void timer.run(() => expire(due)).catch(() => {});
  }
  try {
    await wf.condition(() => inbox.has(key) || late);
    await run.link.mayAct();
    await wf.condition(() => run.askedNow(key));
  } finally {
    timer.cancel();
    inbox.leave(key);
  }
  sleeps.delete(key);
  return inbox.take(key);
}
