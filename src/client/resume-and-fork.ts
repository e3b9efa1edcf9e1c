/** Runs that go on from another one. */
import type { Client, WorkflowHandleWithFirstExecutionRunId, WorkflowStartOptions } from '@temporalio/client';
import { DeclarationError, RunNotFoundError, RunStateError } from '../errors/index.ts';
import type { RunOrigin } from '../protocol/advance.ts';

/** Search attributes that the server sets itself. */
const RESERVED = /^(BuildIds|Temporal.*)$/;

/** Which run. */
export interface ResumeOptions {
  /** Only this run is resumed: not one that came after it. @default the last one */
  runId?: string;
}

/** Where the fork begins, and what is different in it. */
export interface ForkOptions {
  /** The new run's workflow id. */
  workflowId: string;
  /** How many answers of the other run it begins with, in the order of its query `records`; those stand, whatever its code asks. */
  keep: number;
  /** The run to fork. @default the last one of its workflow id */
  runId?: string;
  /** Another input; `null` and `undefined` stand for that of the other run. */
  input?: unknown;
  /**
   * Whether tools that are not `readOnly` run as they do in any run, or each call waits for a person's approval first: the
   * run that was forked may have done the same. @default 'ask'
   */
  effects?: 'ask' | 'live';
  /** @default that of the other run */
  taskQueue?: string;
}

const ENDED_BADLY = new Set(['FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);

/** Whether a run of this status can be resumed. @internal */
export function hasEndedBadly(status: string): boolean {
  return ENDED_BADLY.has(status);
}

/**
 * Goes on with a run that failed, was cancelled or terminated, or timed out: as a new run of the same workflow id, with
 * everything that was answered, so that nothing is paid twice. Failures after the last success are asked again.
 * A tool that was under way when the run ended is run again or asked about, as its `onUncertain` says.
 * @throws RunNotFoundError if the server has forgotten the run; RunStateError if it is running, or completed
 */
export async function resume(
  client: Client,
  workflowId: string,
  { runId }: ResumeOptions = {},
): Promise<WorkflowHandleWithFirstExecutionRunId> {
  const run = await describe(client, workflowId);
  if (runId !== undefined && runId !== run.runId) {
    throw new RunStateError(
      `Cannot resume run ${runId} of workflow ${workflowId}: run ${run.runId} came after it, and is ${run.status}.`,
    );
  }
  if (!hasEndedBadly(run.status)) {
    throw new RunStateError(
      `Cannot resume workflow ${workflowId}: its run ${run.runId} is ${run.status}. What is not over goes on by itself; of a run that completed, a fork can be made.`,
    );
  }
  return await start(client, run, {
    workflowId,
    taskQueue: run.taskQueue,
    args: [null, { version: 1, from: { workflowId, runId: run.runId } } satisfies RunOrigin],
    // Somebody else may just have resumed it, to its end.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    staticSummary: `resumes ${run.runId}`,
  });
}

/**
 * Starts a run of its own from the middle of another, which stays as it is: the first answers are the same, the rest is
 * new. Temporal's own `reset` does the same within one workflow id, with the input as it was and without asking.
 * @throws RunNotFoundError if the server has forgotten the run; DeclarationError for a `keep` that is no number of steps
 */
export async function fork(
  client: Client,
  workflowId: string,
  { keep, runId, input, effects = 'ask', ...options }: ForkOptions,
): Promise<WorkflowHandleWithFirstExecutionRunId> {
  if (!Number.isInteger(keep) || keep < 0)
    throw new DeclarationError(`Cannot fork workflow ${workflowId}: "keep" must be a number of steps.`);
  const run = await describe(client, workflowId, runId);
  const origin: RunOrigin = {
    version: 1,
    from: { workflowId, runId: run.runId, fork: { keep } },
    ...(effects === 'ask' && { asksEffects: true }),
  };
  return await start(client, run, {
    taskQueue: run.taskQueue,
    ...options,
    args: [input ?? null, origin],
    staticSummary: `fork of ${workflowId} after ${keep} steps`,
  });
}

interface Described extends Pick<
  WorkflowStartOptions,
  'memo' | 'priority' | 'taskQueue' | 'typedSearchAttributes'
> {
  type: string;
  runId: string;
  status: string;
}

async function describe(client: Client, workflowId: string, runId?: string): Promise<Described> {
  try {
    const described = await client.workflow.getHandle(workflowId, runId).describe();
    const { type, status, taskQueue, memo, priority, typedSearchAttributes } = described;
    const own = typedSearchAttributes.getAll().filter(({ key }) => !RESERVED.test(key.name));
    return {
      type,
      status: status.name,
      taskQueue,
      runId: described.runId,
      ...(memo && { memo }),
      ...(priority && { priority }),
      ...(own.length > 0 && { typedSearchAttributes: own }),
    };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'WorkflowNotFoundError') throw error;
    const which = runId === undefined ? 'any run' : `run ${runId}`;
    throw new RunNotFoundError(
      `The server does not know ${which} of workflow ${workflowId}; its namespace keeps closed runs for its retention period only.`,
      { cause: error },
    );
  }
}

async function start(
  client: Client,
  { type, memo, priority, typedSearchAttributes }: Described,
  options: WorkflowStartOptions & { args: unknown[] },
): Promise<WorkflowHandleWithFirstExecutionRunId> {
  return await client.workflow.start(type, {
    ...(memo && { memo }),
    ...(priority && { priority }),
    ...(typedSearchAttributes && { typedSearchAttributes }),
    ...options,
  });
}
