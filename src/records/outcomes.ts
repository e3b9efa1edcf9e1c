/** What a run does with the failure of a step: pure decisions, outside the sandbox file so that unit tests reach them. */
import type { OnUncertain, StepFailure } from '../protocol/step.ts';

/** A failed activity, as far as these decisions need it. */
export interface ActivityOutcome {
  /** Set for a timeout: Temporal's timeout type. */
  timeout?: string;
  /** `ApplicationFailure.type`. */
  type?: string;
  message: string;
  nonRetryable?: boolean;
  /** What our activities put into the details. */
  details?: { code?: string; status?: number; recoverable?: boolean; retryAfterMs?: number } | undefined;
}

/** Failure types with which our activities say that their worker goes away. */
export const SHUTDOWN_TYPES = ['WorkerShutdownError', 'WorkerShutdown'];
/** Timeouts that mean: nobody knows what became of the attempt. */
export const VANISHED_TIMEOUTS = ['TemporalTimeout:Heartbeat', 'TemporalTimeout:StartToClose'];

/** Failure type of a closure that its own process gave up, at the same time as the server or a little earlier. */
export const TOOK_TOO_LONG = 'TimeoutError';

/** Failure type of a step that was done, but whose answer could not be kept in the blob store. */
export const NOT_KEPT = 'AnswerNotKept';

/** The activity type is not known to the worker that took the task; another worker may know it. */
export function isUnregistered(failure: ActivityOutcome): boolean {
  return failure.type === 'NotFoundError' && /not registered on this worker/i.test(failure.message);
}

/** The worker could not read the arguments, since its blob store is away: the tool has not begun. */
function isUnread(failure: ActivityOutcome): boolean {
  return failure.type === 'BlobStoreError' && /^Failed to parse activity args/i.test(failure.message);
}

/** A worker took the task, but no body ran; it may another time. */
export function hasNotBegun(failure: ActivityOutcome): boolean {
  return isUnregistered(failure) || isUnread(failure);
}

/**
 * What the failure of a closure in the host means.
 * `lost`: its host is gone. `killed`: gone, and this step may be the cause. `retry`: try later on the host's own queue.
 * `moved`: a worker took it that knows nothing of it. `uncertain`: it was given up, and only a person or the declared
 * rule can say what to do. `record`: it is the answer.
 */
export function callOutcome(
  failure: ActivityOutcome,
  first: boolean,
  onUncertain: OnUncertain,
): 'lost' | 'killed' | 'retry' | 'moved' | 'uncertain' | 'record' {
  if (failure.timeout === 'HEARTBEAT') return 'killed';
  if (failure.timeout === 'SCHEDULE_TO_START') return 'lost';
  if (failure.type !== undefined && SHUTDOWN_TYPES.includes(failure.type)) return 'lost';
  if (first && isUnregistered(failure)) return 'moved';
  const unknown =
    failure.timeout === 'START_TO_CLOSE' || [TOOK_TOO_LONG, NOT_KEPT].includes(failure.type ?? '');
  if (onUncertain !== 'retry' && unknown) return 'uncertain';
  if (first && !failure.nonRetryable) return 'retry';
  return 'record';
}

/**
 * What the final failure of a tool's activity means.
 * `again`: its worker shut down, does not know it or cannot read its arguments; that counts for nothing. `uncertain`: its
 * worker vanished, and only a person or the declared rule can say what to do. `record`: it is the answer.
 */
export function toolOutcome(
  failure: ActivityOutcome,
  onUncertain: OnUncertain,
): 'again' | 'uncertain' | 'record' {
  const shutdown = failure.type !== undefined && SHUTDOWN_TYPES.includes(failure.type);
  if (
    onUncertain !== 'retry' &&
    (shutdown ||
      failure.type === NOT_KEPT ||
      failure.timeout === 'HEARTBEAT' ||
      failure.timeout === 'START_TO_CLOSE')
  ) {
    return 'uncertain';
  }
  return shutdown || hasNotBegun(failure) ? 'again' : 'record';
}

/** The record of a failed activity. */
export function stepFailure(what: string, failure: ActivityOutcome): StepFailure {
  if (failure.timeout !== undefined) {
    return { name: 'TimeoutError', message: `${what} timed out (${failure.timeout})`, recoverable: true };
  }
  const { code, status, recoverable } = failure.details ?? {};
  return {
    name: failure.type ?? 'Error',
    message: failure.message,
    ...(code !== undefined && { code }),
    ...(status !== undefined && { status }),
    ...(recoverable && { recoverable: true as const }),
  };
}

/** The record of an answer that is bytes, which JSON would turn into something else. A tool with a body refuses itself. */
export function bytesFailure(what: string): StepFailure {
  const message = `The result of ${what} cannot be recorded: it is bytes. Use plain JSON, such as their base64 text.`;
  return { name: 'NotRecordableError', message };
}

/**
 * Whether something is sure to notice that the host of a loop is gone.
 * With a closure or a tool in flight its timeouts or its answer tell; else only a watch does. A loop that has been quiet
 * beside a long wait needs none: the answer it waits for will find out.
 */
export function isWatched(state: {
  inFlight: readonly string[];
  watching: boolean;
  quiet: boolean;
}): boolean {
  if (state.watching) return true;
  if (state.inFlight.some((kind) => kind === 'turn' || kind === 'tool' || kind === 'step')) return true;
  return state.quiet && state.inFlight.length > 0;
}

/** Backoff before the agent's function is started again: 1 s, 2 s, 4 s, … at most a minute. In milliseconds. */
export function agentBackoff(failures: number): number {
  return Math.min(60_000, 1_000 * 2 ** (failures - 1));
}

/** How often what failed is started again, by a policy that may set no limit. */
export function restartsOf({ maximumAttempts }: { maximumAttempts?: number }): number {
  return (maximumAttempts || Number.MAX_SAFE_INTEGER) - 1;
}
