/** Temporal's failures to recorded ones, and back. */
import * as wf from '@temporalio/workflow';
import type { StepFailure } from '../src/protocol/step.ts';
import type { ActivityOutcome } from '../src/records/outcomes.ts';

/** What an activity's error says; `undefined`: it is not an activity's failure, or a cancellation. */
export function activityOutcome(error: unknown): ActivityOutcome | undefined {
  if (!(error instanceof wf.ActivityFailure)) return undefined;
  const { cause } = error;
  if (cause instanceof wf.TimeoutFailure) {
    return { timeout: cause.timeoutType ?? 'START_TO_CLOSE', message: cause.message };
  }
  if (cause instanceof wf.ApplicationFailure) {
    return {
      message: cause.message,
      ...(cause.type != null && { type: cause.type }),
      ...(cause.nonRetryable && { nonRetryable: true }),
      details: cause.details?.[0] as ActivityOutcome['details'],
    };
  }
  return undefined;
}

/** The failure with which a run ends. */
export function applicationFailure({ name, message, ...rest }: StepFailure): wf.ApplicationFailure {
  return wf.ApplicationFailure.create({
    message,
    type: name,
    nonRetryable: true,
    ...(Object.keys(rest).length > 0 && { details: [rest] }),
  });
}

/** The failure of a child, of a start that was refused, or of the workflow's own. */
export function failureOf(error: unknown): StepFailure {
  const cause =
    error instanceof wf.ChildWorkflowFailure || error instanceof wf.ActivityFailure ? error.cause : error;
  if (cause instanceof wf.ApplicationFailure) {
    return {
      name: cause.type ?? 'Error',
      message: cause.message,
      ...(cause.details?.[0] as object | undefined),
    };
  }
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  return { name, message };
}
