import { Context } from '@temporalio/activity';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { chainFolder, noteReader } from '../src/blobs/run-blobs.ts';
import type { RunStorage } from '../src/blobs/run-storage.ts';
import { hasEndedBadly } from '../src/client/resume-and-fork.ts';
import type { OtherRun, RunCarry, RunRead } from '../src/protocol/advance.ts';
import { CARRY_QUERY } from '../src/protocol/names.ts';
import { forkedCarry, resumedCarry } from '../src/records/hand-over.ts';

/**
 * Activity: what another run has, for one that goes on from it. A query, which a worker answers from that run's history
 * although it is over.
 */
export function createReadRun({ blobs }: RunStorage) {
  return async (other: OtherRun): Promise<RunRead> => {
    const { input, carry } = await readRun(other);
    const read = goOn(other, input, carry);
    if (blobs) {
      const { activityNamespace: namespace, workflowExecution } = Context.current().info;
      // A resumed run keeps its own where the one before did.
      const own = other.fork ? [] : [chainFolder({ namespace, workflowId: other.workflowId }, carry.chain)];
      const keys = read.carry.records.flatMap(({ blob }) => blob?.key ?? []);
      const folders = keys.map((key) => key.slice(0, key.lastIndexOf('/')));
      await noteReader(blobs, [...own, ...folders], workflowExecution!.workflowId);
    }
    return read;
  };
}

/** Activity: the last run of a workflow id, if it is there and ended badly. */
export async function lastRun(workflowId: string): Promise<OtherRun | null> {
  try {
    const { runId, status } = await Context.current().client.workflow.getHandle(workflowId).describe();
    return hasEndedBadly(status.name) ? { workflowId, runId } : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

function goOn({ runId, fork }: OtherRun, input: unknown, carry: RunCarry): RunRead {
  if (!fork) return { input, carry: resumedCarry(carry) };
  if (fork.keep <= carry.records.length) return { input, carry: forkedCarry(carry, fork.keep) };
  const message = `Cannot fork run ${runId} after ${fork.keep} steps: it has ${carry.records.length}.`;
  throw ApplicationFailure.nonRetryable(message, 'DeclarationError');
}

async function readRun({ workflowId, runId }: OtherRun): Promise<{ input: unknown; carry: RunCarry }> {
  const which = `run ${runId} of workflow ${workflowId}`;
  try {
    return await Context.current()
      .client.workflow.getHandle(workflowId, runId)
      .query<{ input: unknown; carry: RunCarry }>(CARRY_QUERY);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      const message = `The server does not know ${which} any more: its namespace keeps closed runs for its retention period only.`;
      throw ApplicationFailure.nonRetryable(message, 'RunNotFoundError');
    }
    if (error instanceof Error && error.name === 'QueryNotRegisteredError') {
      const message = `Cannot go on from ${which}: it is no agent's, or it ended before it had read what it was to go on from. Give the runId of the run before.`;
      throw ApplicationFailure.nonRetryable(message, 'RunStateError');
    }
    throw error;
  }
}
