/** Errors to failures that can be recorded, and back. */
import { ApplicationFailure } from '@temporalio/common';
import { MAX_MESSAGE_CHARS } from '../protocol/limits.ts';
import type { StepFailure } from '../protocol/step.ts';
import { AgentError, agentErrorNamed } from './index.ts';

const recorded = new WeakSet<object>();
const lasting = new Set<(error: object) => boolean>();

/** Names errors of a framework that follow from what was recorded, so that a restart only repeats them. */
export function addLasting(isLastingError: (error: object) => boolean): void {
  lasting.add(isLastingError);
}

/** A recorded failure as the error that the loop sees: the same live, and after a restart. */
export function fromStepFailure(failure: StepFailure): Error {
  const { name, message, ...rest } = failure;
  const error = agentErrorNamed(name, message) ?? Object.assign(new Error(message), { name });
  Object.assign(error, rest);
  recorded.add(error);
  return error;
}

/** Whether it is one of ours that only comes again. */
function isLasting(error: unknown): boolean {
  return AgentError.is(error) && !error.retryable;
}

function isOfFramework(error: object): boolean {
  return [...lasting].some((isOne) => isOne(error));
}

/**
 * Whether starting the agent again would only bring the same error again: it, or a cause of it, came from a record, is
 * one of ours that does not pass, one that its framework would throw again, or says so itself.
 */
export function isFinal(error: unknown): boolean {
  try {
    for (let cause = error, depth = 0; typeof cause === 'object' && cause !== null && depth < 10; depth++) {
      if (recorded.has(cause) || isLasting(cause) || isOfFramework(cause)) return true;
      if (cause instanceof ApplicationFailure && cause.nonRetryable) return true;
      cause = (cause as { cause?: unknown }).cause;
    }
  } catch {
    // It cannot be read; see `toStepFailure`.
  }
  return false;
}

/**
 * The failure of a tool or a named step, for Temporal's retries. An `ApplicationFailure` of the user's own stays as it
 * is; any other error is under its class's name, and retryable unless it is one of ours that only comes again.
 */
export function toApplicationFailure(error: unknown, nonRetryable = isLasting(error)): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const { name, message, code, status } = toStepFailure(error);
  const failure = ApplicationFailure.create({
    message,
    type: name,
    nonRetryable,
    ...((code !== undefined || status !== undefined) && { details: [{ code, status }] }),
  });
  return withStackOf(error, failure);
}

/** The line that threw, not the one that made the failure of it; cut like a message. */
export function withStackOf(error: unknown, failure: ApplicationFailure): ApplicationFailure {
  if (error instanceof Error && error.stack !== undefined) failure.stack = clip(error.stack);
  return failure;
}

/** What is kept of an error: its class, message, code and HTTP status; never its fields, which may hold secrets. */
export function toStepFailure(error: unknown): StepFailure {
  try {
    return described(error);
  } catch {
    // A proxy, or an accessor that throws. Nobody would hear of an error that describing an error threw.
    return { name: 'Error', message: 'Something that cannot be read was thrown.' };
  }
}

function described(error: unknown): StepFailure {
  if (typeof error !== 'object' || error === null) return { name: 'Error', message: clip(String(error)) };
  const { name, message, code, status, type, constructor } = error as Record<string, unknown>;
  const own = error instanceof ApplicationFailure ? type : name;
  // The OpenAI client's errors are all named "Error"; their class says more.
  const names = [
    own === 'Error' ? undefined : own,
    typeof constructor === 'function' && constructor.name,
    'Error',
  ];
  return {
    name: clip(names.find((candidate) => typeof candidate === 'string' && candidate !== '') as string),
    message: clip(typeof message === 'string' ? message : textOf(error)),
    ...(typeof code === 'string' && { code: clip(code) }),
    ...(typeof status === 'number' && { status }),
  };
}

/** Anything can be thrown, also what has no text. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'Something without a message was thrown.';
  }
}

function clip(text: string): string {
  return text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text;
}
