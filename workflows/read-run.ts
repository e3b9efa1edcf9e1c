/** What a run goes on from: read by activities, since only a worker can ask another run. */
import * as wf from '@temporalio/workflow';
import type { ChildRun, OtherRun, RunRead } from '../src/protocol/advance.ts';
import { LAST_RUN, READ_RUN } from '../src/protocol/names.ts';
import { applicationFailure, failureOf } from './failures.ts';

const RETRY: wf.RetryPolicy = { initialInterval: '1s', maximumInterval: '10s' };

/** @throws ApplicationFailure if that run is not there any more, or cannot be read */
export async function readRun(from: OtherRun): Promise<RunRead> {
  try {
    return await wf.scheduleActivity<RunRead>(READ_RUN, [from], {
      startToCloseTimeout: '30 seconds',
      // A run that nobody can read is no reason to wait for ever.
      scheduleToCloseTimeout: '10 minutes',
      retry: RETRY,
      summary: `what run ${from.runId} had`,
    });
  } catch (error) {
    if (wf.isCancellation(error)) throw error;
    throw applicationFailure(failureOf(error));
  }
}

/** What became of the child of the run that is resumed; waits until it is over. `undefined`: there was none. */
export async function childOfBefore(workflowId: string): Promise<ChildRun | undefined> {
  const options = {
    startToCloseTimeout: '30 seconds',
    retry: RETRY,
    summary: `how ${workflowId} ended`,
  } as const;
  return (await wf.scheduleActivity<ChildRun | null>(LAST_RUN, [workflowId], options)) ?? undefined;
}
