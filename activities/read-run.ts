import { Context } from '@temporalio/activity';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { noteReader } from '../src/blobs/run-blobs.ts';
import type { RunStorage } from '../src/blobs/run-storage.ts';
import type { OtherRun, RunRead } from '../src/protocol/advance.ts';
import { CARRY_QUERY } from '../src/protocol/names.ts';
import { forkedCarry, resumedCarry } from '../src/records/hand-over.ts';

/**
 * Activity: what another run has, for one that goes on from it. A query, which a worker answers from that run's history
 * although it is over.
 */
export function createReadRun({ blobs }: RunStorage) {
  return async (other: OtherRun): Promise<RunRead> => {
    const read = await readRun(other);
    const keys = read.carry.records.flatMap(({ blob }) => blob?.key ?? []);
    if (blobs) await noteReader(blobs, keys, Context.current().info.workflowExecution!.workflowId);
    return read;
  };
}

async function readRun({ workflowId, runId, fork }: OtherRun): Promise<RunRead> {
  const { client, info } = Context.current();
  try {
    const read = await client.workflow.getHandle(workflowId, runId).query<RunRead>(CARRY_QUERY);
    const { input, carry } = read;
    if (!fork) return { input, carry: resumedCarry(carry) };
    if (fork.keep > carry.records.length) {
      const message = `Cannot fork run ${runId} after ${fork.keep} steps: it has ${carry.records.length}.`;
      throw ApplicationFailure.nonRetryable(message, 'DeclarationError');
    }
    return { input, carry: forkedCarry(carry, fork.keep, info.workflowExecution!.runId) };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    const message = `Run ${runId} of workflow ${workflowId} is not there any more: its namespace keeps closed runs for its retention period only.`;
    throw ApplicationFailure.nonRetryable(message, 'RunNotFoundError');
  }
}
