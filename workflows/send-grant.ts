import * as wf from '@temporalio/workflow';
import type { Grant } from '../src/protocol/budget.ts';
import { GRANT_SIGNAL } from '../src/protocol/names.ts';

/** Tells a child what it may spend, whatever is cancelled here. */
export async function sendGrant(child: string, grant: Grant): Promise<void> {
  const handle = wf.getExternalWorkflowHandle(child);
  try {
    await wf.CancellationScope.nonCancellable(async () => await handle.signal(GRANT_SIGNAL, grant));
  } catch {
    // It is over.
  }
}
