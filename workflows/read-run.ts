/** What a run goes on from: read by an activity, since only a worker can ask another run. */
import * as wf from '@temporalio/workflow';
import type { OtherRun, RunRead } from '../src/protocol/advance.ts';
import { READ_RUN } from '../src/protocol/names.ts';

/** @throws ActivityFailure if that run is not there any more */
export async function readRun(from: OtherRun): Promise<RunRead> {
  return await wf.scheduleActivity<RunRead>(READ_RUN, [from], {
    startToCloseTimeout: '2 minutes',
    retry: { initialInterval: '1s', maximumInterval: '30s' },
    summary: `what run ${from.runId} had`,
  });
}
