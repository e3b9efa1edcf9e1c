/** What a run goes on from: read by activities, since only a worker can ask another run. */
import * as wf from '@temporalio/workflow';
import type { OtherRun, RunRead } from '../src/protocol/advance.ts';
import { LAST_RUN, READ_RUN } from '../src/protocol/names.ts';
import { applicationFailure, failureOf } from './failures.ts';

const OPTIONS: wf.ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  // A run that nobody can read is no reason to wait for ever.
  scheduleToCloseTimeout: '10 minutes',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
};

/** @throws ApplicationFailure if that run is not there any more, or is none that can be read */
export async function readRun(from: OtherRun): Promise<RunRead> {
  try {
    return await wf.scheduleActivity<RunRead>(READ_RUN, [from], {
      ...OPTIONS,
      summary: `what run ${from.runId} had`,
    });
  } catch (error) {
    if (wf.isCancellation(error)) throw error;
    throw applicationFailure(failureOf(error));
  }
}

/** The last run of a workflow id, if it is there and ended badly. */
export async function lastRunToResume(workflowId: string): Promise<OtherRun | undefined> {
  const summary = `whether ${workflowId} is to be resumed`;
  return (
    (await wf.scheduleActivity<OtherRun | null>(LAST_RUN, [workflowId], { ...OPTIONS, summary })) ?? undefined
  );
}
