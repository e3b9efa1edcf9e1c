/** What may be said to a run from outside: from the Temporal UI, the CLI, a client or another workflow. */
import type { QueryDefinition, SignalDefinition } from '@temporalio/common';
import type { StepRecord } from './step.ts';

/** Payload of `approve`: `{ "id": "issue_refund-1" }`. */
export interface ApproveInput {
  /** The id of the pending approval, as the run shows it. */
  id: string;
  /** Who decided; free text, kept with the decision. */
  by?: string;
}

/** Payload of `reject`: `{ "id": "issue_refund-1", "reason": "wrong account" }`. */
export interface RejectInput extends ApproveInput {
  /** What the agent is told. */
  reason?: string;
}

/** Payload of `answer`: `{ "id": "ask-1", "value": true }`. */
export interface AnswerInput {
  /** The id of the question, as the run shows it. May be left out if the run has only ever asked one. */
  id?: string;
  /** What is answered; it must fit the question's schema. */
  value: unknown;
  /** Who answered; free text, kept with the answer. */
  by?: string;
}

/** A decision a run waits for. */
export interface PendingApproval extends Pending {
  /** The tool's or agent's name. */
  name: string;
  /** The arguments that would be used; left out over 32 KB. */
  input?: unknown;
}

/** A question a run waits for an answer to. */
export interface PendingQuestion extends Pending {
  /** Which answers fit, as JSON Schema. */
  schema: Record<string, unknown>;
}

/** Something a run waits for a person with. */
export interface Pending {
  id: string;
  /** What the person is asked. */
  prompt: string;
  /** Milliseconds since the epoch, by the workflow's clock. */
  askedAt: number;
  /** When it is decided without a person. */
  expiresAt?: number;
  /** Whom it concerns; anybody may answer. */
  audience?: string;
  /** The present loop has not asked for it (its code changed, or it is not alive): an answer waits until it does. */
  withdrawn?: true;
}

/** A message that was not accepted, and why. */
export interface RefusedSignal {
  signal: string;
  reason: string;
  /** Milliseconds since the epoch, by the workflow's clock. */
  at: number;
}

/** What a run waits for, and what it refused. */
export interface Waiting {
  approvals: PendingApproval[];
  questions: PendingQuestion[];
  /** The last refused messages, at most 20. */
  refused: RefusedSignal[];
}

// Temporal's own `defineSignal` makes just these objects; it is not used because it would load the workflow library
// wherever a client only wants to send a signal.

/** Signal: let a pending call go on. From the Temporal UI: signal `approve`, input `{"id":"issue_refund-1"}`. */
export const approve: SignalDefinition<[ApproveInput], 'approve'> = {
  type: 'signal',
  name: 'approve',
} as never;

/** Signal: refuse a pending call; the agent is told the reason. */
export const reject: SignalDefinition<[RejectInput], 'reject'> = { type: 'signal', name: 'reject' } as never;

/** Signal: answer a question. From the Temporal UI: signal `answer`, input `{"id":"ask-1","value":true}`. */
export const answer: SignalDefinition<[AnswerInput], 'answer'> = { type: 'signal', name: 'answer' } as never;

/** Query: the approvals and questions a run waits for, with the id to answer. */
export const waiting: QueryDefinition<Waiting, [], 'waiting'> = { type: 'query', name: 'waiting' } as never;

/** Query: the answers a run has so far, in the order in which they came. */
export const records: QueryDefinition<StepRecord[], [], 'records'> = {
  type: 'query',
  name: 'records',
} as never;
