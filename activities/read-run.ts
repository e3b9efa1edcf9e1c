import { Context } from '@temporalio/activity';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { chainFolder, noteReader } from '../src/blobs/run-blobs.ts';
import type { RunStorage } from '../src/blobs/run-storage.ts';
import { hasEndedBadly } from '../src/client/resume-and-fork.ts';
import type { ChildRun, OtherRun, RunCarry, RunOrigin, RunRead } from '../src/protocol/advance.ts';
import { CARRY_QUERY } from '../src/protocol/names.ts';
import { forkedCarry, noCarry, resumedCarry } from '../src/records/hand-over.ts';

/** How long an answer to a query is waited for: one that is lost never comes. Milliseconds. */
const QUERY_MS = 10_000;

/**
 * Activity: what another run has, for one that goes on from it. A query, which a worker answers from that run's history
 * although it is over.
 */
export function createReadRun({ blobs }: RunStorage) {
  return async (other: OtherRun): Promise<RunRead> => {
    const read = await goOnFrom(other);
    if (blobs) {
      const { activityNamespace: namespace, workflowExecution } = Context.current().info;
      // A resumed run keeps its own where the one before did.
      const { chain } = read.carry;
      const own =
        chain === undefined ? [] : [chainFolder({ namespace, workflowId: other.workflowId }, chain)];
      const keys = read.carry.records.flatMap(({ blob }) => blob?.key ?? []);
      const folders = keys.map((key) => key.slice(0, key.lastIndexOf('/')));
      await noteReader(blobs, [...own, ...folders], workflowExecution!.workflowId);
    }
    return read;
  };
}

/** Activity: what became of the last run of a workflow id, if it is there, once it is over. */
export async function lastRun(workflowId: string): Promise<ChildRun | null> {
  const handle = Context.current().client.workflow.getHandle(workflowId);
  try {
    const { runId, status } = await handle.describe();
    if (status.name === 'COMPLETED') return { result: (await handle.result()) as unknown };
    if (hasEndedBadly(status.name)) return { from: { workflowId, runId } };
    throw ApplicationFailure.retryable(
      `Run ${runId} of workflow ${workflowId} is not over yet.`,
      'RunStateError',
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

async function goOnFrom(other: OtherRun): Promise<RunRead> {
  const { runId, fork } = other;
  const { input, carry } = await readRun(other);
  if (!fork) return { input, carry: resumedCarry(carry) };
  if (fork.keep <= carry.records.length) return { input, carry: forkedCarry(carry, fork.keep) };
  const message = `Cannot fork run ${runId} after ${fork.keep} steps: it has ${carry.records.length}.`;
  throw ApplicationFailure.nonRetryable(message, 'DeclarationError');
}

async function readRun(other: OtherRun): Promise<{ input: unknown; carry: RunCarry }> {
  const { workflowId, runId } = other;
  const { client } = Context.current();
  try {
    return await client.withDeadline(
      Date.now() + QUERY_MS,
      async () =>
        await client.workflow
          .getHandle(workflowId, runId)
          .query<{ input: unknown; carry: RunCarry }>(CARRY_QUERY),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      const message = `The server does not know run ${runId} of workflow ${workflowId} any more: its namespace keeps closed runs for its retention period only.`;
      throw ApplicationFailure.nonRetryable(message, 'RunNotFoundError');
    }
    // It ended before it could be asked anything: all it ever had is what it was started with.
    if (hasNoAnswer(error)) return await readStart(other);
    throw error;
  }
}

/** A run that ended before its first task, or before it had read what it was to go on from. */
function hasNoAnswer(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++, cause = cause.cause) {
    if (cause.name === 'QueryNotRegisteredError') return true;
    if (/closed before WorkflowTaskStarted/i.test(cause.message)) return true;
  }
  return false;
}

async function readStart({ workflowId, runId }: OtherRun): Promise<{ input: unknown; carry: RunCarry }> {
  const { client } = Context.current();
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const chain = started?.firstExecutionRunId ?? runId;
  const args = await decodeArrayFromPayloads(client.options.loadedDataConverter, started?.input?.payloads);
  const [input, from] = args as [unknown, (Partial<RunCarry> & RunOrigin)?];
  if (from?.version !== 1) return { input, carry: noCarry(chain) };
  if (from.records) return { input, carry: from as RunCarry };
  const asksEffects = from.asksEffects && { asksEffects: from.asksEffects };
  if (!from.from) return { input, carry: { ...noCarry(chain), ...asksEffects } };
  const read = await goOnFrom(from.from);
  return { input: input ?? read.input, carry: { chain, ...read.carry, ...asksEffects } };
}
