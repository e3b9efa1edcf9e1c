/**
 * The errors of this package. Each class's name is also the `type` of the `ApplicationFailure` it becomes, so that a
 * retry policy's `nonRetryableErrorTypes` and a client's `error.cause.type` can name it.
 */

import type { RefusalCode } from '../protocol/signals.ts';

const MARK = Symbol.for('temporal-agents.error');

/** Base of all errors of this package. */
export class AgentError extends Error {
  readonly [MARK] = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }

  /** Whether it may pass: a step that fails with it is tried again, and so is an agent. */
  get retryable(): boolean {
    return false;
  }

  /** Whether an error is one of ours, also when two copies of the package are loaded. */
  static is(error: unknown): error is AgentError {
    return typeof error === 'object' && error !== null && MARK in error;
  }
}

/** No worker has the agent. */
export class AgentNotFoundError extends AgentError {}
/** An agent's input does not fit its `input` schema. */
export class AgentInputError extends AgentError {}
/** What an agent returned does not fit its `output` schema. */
export class AgentOutputError extends AgentError {}
/** An agent or tool was declared in a way that cannot work. */
export class DeclarationError extends AgentError {}
/** A tool's arguments do not fit its `parameters`. */
export class ToolInputError extends AgentError {}
/** A person rejected the call; the message is the reason given. */
export class ToolRejectedError extends AgentError {}
/** A person refused that the agent is started; the message is the reason given. */
export class AgentRejectedError extends AgentError {}
/** A decision was not taken; `code` says why, and the message what was decided before, or what waits. */
export class DecisionRefusedError extends AgentError {
  code: RefusalCode | 'run-over';

  constructor(message: string, code: RefusalCode | 'run-over' = 'malformed') {
    super(message);
    this.code = code;
  }
}
/**
 * A model's turn might have cost more than is left of a budget, and was not sent. `code` says of what: `usd`, `tokens`,
 * `turns`, `wallTime`, or `unknownPrice`.
 */
export class BudgetExceededError extends AgentError {
  readonly code?: string;
}
/** Nobody answered a question in time. */
export class AnswerTimeoutError extends AgentError {}
/** The worker that ran the step vanished, and whether the step had its effect is unknown. */
export class UncertainStepError extends AgentError {}
/** A step lost its worker several times in a row: it kills or blocks the process it runs in. */
export class StepKillsWorkerError extends AgentError {}
/** An agent's own code killed or blocked its worker several times in a row. */
export class LoopKillsWorkerError extends AgentError {}
/** A value that cannot be recorded without loss; the message names the path to it. */
export class NotRecordableError extends AgentError {}
/** A payload is larger than the server takes; the message names what, its size and the limit. */
export class PayloadTooLargeError extends AgentError {}
/** The records of a run are too large to go over to the next run of its chain. */
export class RecordsTooLargeError extends AgentError {}
/** A framework's version, or a feature of it, that this version does not support. */
export class UnsupportedError extends AgentError {}
/** The server does not know a run, or has forgotten it. */
export class RunNotFoundError extends AgentError {}
/** A run is not in the state that what was asked of it needs. */
export class RunStateError extends AgentError {}
/** A blob store has no blob of that key. */
export class BlobNotFoundError extends AgentError {}
/**
 * A blob store cannot be reached, or refuses; the message names the store, and the cause is what it said. It may pass,
 * unless the store can never do what was asked: a full disk, a missing bucket and wrong credentials are mended by a person.
 * Whether a failed write has been done is not known.
 */
export class BlobStoreError extends AgentError {
  readonly #retryable: boolean;

  constructor(
    message: string,
    { retryable = true, ...options }: ErrorOptions & { retryable?: boolean } = {},
  ) {
    super(message, options);
    this.#retryable = retryable;
  }

  override get retryable(): boolean {
    return this.#retryable;
  }
}
/** Someone else wrote first. */
export class ConcurrencyError extends AgentError {
  /** The same as `currentSha`, under the name that is kept when the error is recorded. */
  readonly code?: string;

  constructor(message: string, { currentSha, ...options }: ErrorOptions & { currentSha?: string } = {}) {
    super(message, options);
    if (currentSha !== undefined) this.code = currentSha;
  }

  /** SHA-256, in hex, of what is there now; `null` if nothing is. */
  get currentSha(): string | null {
    return this.code ?? null;
  }
}
/** Another run holds the conversation. */
export class ConversationBusyError extends AgentError {
  /** The same as `workflowId`, under the name that is kept when the error is recorded. */
  readonly code?: string;

  constructor(message: string, { workflowId, ...options }: ErrorOptions & { workflowId?: string } = {}) {
    super(message, options);
    if (workflowId !== undefined) this.code = workflowId;
  }

  /** The run that holds it, as it is known. */
  get workflowId(): string | undefined {
    return this.code;
  }
}
/** A key or path of memory that is surely a mistake, such as one with `..` in it. */
export class MemoryPathError extends AgentError {}
/** The worker was shut down under an activity; never a failure of the step. */
export class WorkerShutdownError extends AgentError {}

const CLASSES = [
  AgentNotFoundError,
  AgentInputError,
  AgentOutputError,
  DeclarationError,
  ToolInputError,
  ToolRejectedError,
  AgentRejectedError,
  DecisionRefusedError,
  BudgetExceededError,
  AnswerTimeoutError,
  UncertainStepError,
  StepKillsWorkerError,
  LoopKillsWorkerError,
  NotRecordableError,
  PayloadTooLargeError,
  RecordsTooLargeError,
  UnsupportedError,
  RunNotFoundError,
  RunStateError,
  BlobNotFoundError,
  BlobStoreError,
  ConcurrencyError,
  ConversationBusyError,
  MemoryPathError,
  WorkerShutdownError,
];

/** One of our errors by its name, or `undefined`. @internal */
export function agentErrorNamed(name: string, message: string): AgentError | undefined {
  const Class = CLASSES.find((candidate) => candidate.name === name);
  return Class && new Class(message);
}
