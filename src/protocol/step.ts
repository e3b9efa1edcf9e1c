/** The words a loop and its run exchange: what a loop can ask for, and what an answer to it is. Types only. */
import type { Duration, RetryPolicy } from '@temporalio/common';
import type { WorstCase } from './budget.ts';
import type { Usage } from './usage.ts';

/**
 * What a loop can ask for.
 * `turn`: a model's answer. `tool`: a tool call. `step`: a named piece of the agent's own code. `approval`: a person's
 * yes or no. `agent`: another agent, as a child workflow. `sleep`: a durable timer. `message`: what people send to the run.
 */
export type StepKind = 'turn' | 'tool' | 'step' | 'approval' | 'agent' | 'sleep' | 'message';

/** What to do when the worker that ran a step vanished, so that nobody knows whether it had its effect. */
export type OnUncertain = 'retry' | 'ask' | 'fail';

/** How a step is to be run; absent fields take the defaults of its kind. Temporal's own types and units. */
export interface StepOptions {
  taskQueue?: string;
  retry?: RetryPolicy;
  startToCloseTimeout?: Duration;
  heartbeatTimeout?: Duration;
  onUncertain?: OnUncertain;
}

/** One durable unit that a loop asks for. */
export interface Step {
  /** Its place among what this loop asked, from 1; the run acknowledges steps by this number. */
  no: number;
  /** Fingerprint of the request with its scope, and the occurrence when the same request is asked again. */
  key: string;
  kind: StepKind;
  /** The model's, tool's or agent's name, or the step's own. */
  name: string;
  /** What whoever answers it needs: a tool's arguments, an agent's input, a sleep's milliseconds. */
  input?: unknown;
  /** Answered by a closure in the process that holds the loop, not by an activity of its own name. */
  local?: true;
  /** A tool whose body waits for people, timers or agents: a child workflow of its name, not an activity. */
  suspends?: true;
  /** A tool with a body: whoever serves it heartbeats. */
  heartbeats?: true;
  /** A person must approve before it is started. */
  approval?: StepApproval;
  /** Has no effect outside, so that it may be cut off, or run again where its answer is out of date. */
  readOnly?: true;
  /** Asked inside `nonCancellable`: runs although the run is cancelled. */
  shielded?: true;
  options?: StepOptions;
  /** Of a turn: what the model is asked, in a few words, as plain text of at most 120 characters; other kinds have `input`. */
  asked?: string;
  /** A short hash of each top-level field of the request, so that a miss can be explained. */
  parts?: Record<string, string>;
  /** Of a turn of a run with a budget: what it may cost at most. */
  worst?: WorstCase;
  /** Of a turn that changed code asks in the place of a recorded one: in which fields its request differs from that. */
  missed?: string[];
}

/** What a person is asked about a step. */
export interface StepApproval {
  prompt: string;
  /** SHA-256 of the arguments shown, as canonical JSON; absent: it has none. */
  argumentsHash?: string;
  /** The person may change the arguments, to what fits this JSON Schema. */
  edit?: Record<string, unknown>;
  /** It is a question, and this JSON Schema says which answers fit; absent: the step is to be approved. */
  answer?: Record<string, unknown>;
  /** Milliseconds after which it is decided by `onTimeout`. */
  timeoutMs?: number;
  onTimeout?: 'reject' | 'approve';
  /** Others are asked when the time is over; only when theirs is, too, it is decided. */
  escalate?: Pick<StepApproval, 'timeoutMs' | 'onTimeout' | 'audience'>;
  audience?: string;
}

/** A failure as it is kept in a record, and given to the loop again after a restart. Plain JSON. */
export interface StepFailure {
  /** The error's class, as Temporal's `ApplicationFailure.type` has it. */
  name: string;
  message: string;
  code?: string;
  /** HTTP status, where a provider gave one. */
  status?: number;
  /** Retries ran out on something that may pass another time (network, 429, 5xx, timeout). */
  recoverable?: true;
}

/** A large answer that is kept in a blob store. */
export interface AnswerBlob {
  /** Where in the store. */
  key: string;
  bytes: number;
}

/** Whose answer it is, where a tool's answer was used again. */
export interface CachedFrom {
  workflowId: string;
  runId: string;
  /** When it was asked; milliseconds since 1970, by the clock of the worker that ran it. */
  at: number;
  /** How long that took. */
  durationMs: number;
}

/** What a person who approved a call made of its arguments. */
export interface EditedArguments {
  arguments: unknown;
  /** Who did, as they say. */
  by?: string;
}

/** The recorded answer to a step: a value (absent: `undefined`) or a failure. */
export interface StepRecord {
  key: string;
  kind: StepKind;
  name: string;
  value?: unknown;
  /** Stands in the place of a large value. */
  blob?: AnswerBlob;
  failure?: StepFailure;
  usage?: Usage;
  /** Of a turn with a usage: US dollars, by the price table of when it was answered; absent: the price is not known. */
  usd?: number;
  /** Of a turn: how many attempts vanished with their worker, or were cut off, each of which the provider may have charged. */
  lost?: number;
  /** Of a turn that failed, and may have been paid: what each attempt may have cost. */
  worst?: WorstCase;
  /** The start of what it was asked, as JSON; of a turn, whose request the run does not have, as plain text. */
  asked?: string;
  /** A tool that suspends: it was a child workflow. */
  child?: true;
  /** Of a turn: short hashes of the fields of its request, in the order of their names. */
  parts?: string;
  /** Of a turn that changed code asked in the place of a recorded one: in which fields its request differs from that. */
  missed?: string[];
  /** Of a turn that waited for room in a budget: until when; milliseconds since the epoch. */
  heldUntil?: number;
  /** The tool was not run: an equal call had been answered. */
  cached?: CachedFrom;
  /** The tool was run with what a person made of its arguments. */
  edited?: EditedArguments;
  /** How often the run started it; retries inside Temporal's own policy are not counted. */
  attempts: number;
  /** Milliseconds since the epoch, by the workflow's clock. */
  askedAt: number;
  answeredAt: number;
  /** Asked since a loop with changed code left the recorded path; how many records there were then. */
  changedAt?: number;
}
