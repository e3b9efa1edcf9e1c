/** Why a run could not be read, and what to do about it, in one line. */
import type { WorkflowExecutionDescription } from '@temporalio/client';

/** Codes of gRPC for a call that took too long: which of the two comes depends on whether the client or the server was faster. */
const TOO_LONG = new Set<number | undefined>([1, 4]);

/** @param ms how long was waited */
export function whyUnread(
  error: unknown,
  {
    workflowId,
    type,
    taskQueue,
    status,
  }: Pick<WorkflowExecutionDescription, 'workflowId' | 'type' | 'taskQueue' | 'status'>,
  ms: number,
): Error {
  const { name, message, cause } = error as Error & { cause?: { code?: number; details?: string } };
  const cannot = `Cannot read the report of ${workflowId}`;
  const why = cause?.details ?? message;
  const tooLong = TOO_LONG.has(cause?.code);
  if (tooLong || /no poller|no worker/i.test(why)) {
    const within = tooLong ? ` within ${ms / 1_000} s` : '';
    const todo = `Start a worker with agent ${type} on task queue ${taskQueue}, or wait longer with --timeout.`;
    return new Error(`${cannot}: no worker answered${within}. ${todo}`);
  }
  if (name === 'QueryNotRegisteredError' && status.name !== 'RUNNING') {
    return new Error(`${cannot}: it ended as it began, or is no agent's. Temporal's UI shows with what.`);
  }
  if (name === 'QueryNotRegisteredError') {
    const todo = 'Ask for the report of an agent, and update its workers.';
    return new Error(`${cannot}: it is no agent's, or it has not begun, or its worker is older. ${todo}`);
  }
  if (/closed before WorkflowTaskStarted/i.test(why)) {
    return new Error(`${cannot}: it ended before it did anything.`);
  }
  return new Error(`${cannot}: ${firstLine(why)}`);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}
