/** What may be said to a run from outside: from the Temporal UI, the CLI, a client or another workflow. */
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';
import type { Door } from './advance.ts';
import type { ReportPage, RunReport } from './report.ts';
import type { StepRecord } from './step.ts';
import type { RunUsage } from './usage.ts';

/** Payload of `approve`: `{ "id": "issue_refund-1" }`. */
export interface ApproveInput {
  /** The id of the pending approval, as the run shows it. */
  id: string;
  /** Who decides, as the sender says; free text, kept with the decision. What the server knows of it: `decisionsOf`. */
  by?: string;
  /** Why, for whoever reads the decision later; the agent is not told. */
  note?: string;
  /** Other arguments, with which the call is made instead; only where the tool says `allowEdit`. */
  arguments?: unknown;
  /** The `argumentsHash` that was shown: refused if the call has other arguments. */
  argumentsHash?: string;
}

/** Payload of `reject`: `{ "id": "issue_refund-1", "reason": "wrong account" }`. */
export interface RejectInput extends Omit<ApproveInput, 'arguments'> {
  /** What the agent is told. */
  reason?: string;
}

/** Payload of `answer`: `{ "id": "ask-1", "value": true }`. */
export interface AnswerInput {
  /** The id of the question, as the run shows it. May be left out if the run has only ever asked one. */
  id?: string;
  /** What is answered; it must fit the question's schema. */
  value: unknown;
  /** Who answers, as the sender says; free text, kept with the answer. */
  by?: string;
  /** Why, for whoever reads the answer later; the agent is not told. */
  note?: string;
}

/** Input of the update `decide`: what the signal of that name has, and which it is. */
export type DecideInput =
  | ({ decision: 'approve' } & ApproveInput)
  | ({ decision: 'reject' } & RejectInput)
  | ({ decision: 'answer' } & AnswerInput);

/** What `decide` answers once a decision was taken. */
export interface DecisionReceipt {
  id: string;
  /** The run in which it waited: the one that was told, or one below it. */
  workflowId: string;
}

/** A decision as it was read, whichever way it came. */
export interface SentDecision extends Partial<Omit<RejectInput, 'id'>> {
  how: 'approve' | 'reject' | 'answer';
  id?: string;
  value?: unknown;
  arguments?: unknown;
}

/** Why a decision was not taken. */
export type RefusalCode =
  /** It cannot be read, names nothing, or not what it decides. */
  | 'malformed'
  /** Nothing of that id was ever asked here. */
  | 'unknown-id'
  /** Another decision was first. */
  | 'already-decided'
  /** Its time was over. */
  | 'expired'
  /** It is asked no more. */
  | 'closed'
  /** The answer, or the changed arguments, do not fit. */
  | 'does-not-fit';

export interface Refusal {
  code: RefusalCode;
  reason: string;
}

/** A decision that was taken. */
export interface TakenDecision {
  id: string;
  /** The tool's name, `start` of an agent, or the question's. */
  name: string;
  decision: 'approved' | 'rejected' | 'answered' | 'unanswered';
  /** Nobody decided in time. */
  timedOut?: true;
  /** Who decided, as the sender said. */
  by?: string;
  /** What the agent was told. */
  reason?: string;
  note?: string;
  value?: unknown;
  /** What a person made of the arguments. */
  arguments?: unknown;
  /** SHA-256 of the arguments that were shown, as canonical JSON. */
  argumentsHash?: string;
  /** Milliseconds since the epoch, by the workflow's clock. */
  at: number;
  /** How it came in; absent: nobody decided in time. */
  door?: Door;
}

/** Payload of `message`: `{ "text": "make it shorter" }`, or just the text. */
export interface MessageInput {
  text: string;
  /** Who sends it, as they say. */
  by?: string;
}

/** A message as the agent gets it. */
export interface Message extends MessageInput {
  /** When the run had it. Milliseconds since the epoch, by the workflow's clock. */
  at: number;
}

/** A decision a run waits for. */
export interface PendingApproval extends Pending {
  /** The tool's or agent's name. */
  name: string;
  /** SHA-256 of the arguments, as canonical JSON. */
  argumentsHash?: string;
  /** They may be changed, to what fits this JSON Schema. */
  edit?: Record<string, unknown>;
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
  /** The arguments that would be used, or what a framework's question is about; left out over 32 KB. */
  input?: unknown;
  /** Milliseconds since the epoch, by the workflow's clock. */
  askedAt: number;
  /** When `onTimeout` decides it without a person, or others are asked. */
  expiresAt?: number;
  /** @default 'reject' */
  onTimeout?: 'reject' | 'approve' | 'escalate';
  /** Whom it concerns; anybody may answer. */
  audience?: string;
  /** Nobody decided in time, and others were asked. */
  escalated?: true;
  /** The run below this one in which it waits; it may be answered here or there. */
  workflowId?: string;
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
  /** Messages that the agent has not read. */
  unread?: number;
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

/** Signal: say something to an agent that reads messages (`inbox`, `onMessage`). Never taken as an answer. */
export const message: SignalDefinition<[MessageInput | string], 'message'> = {
  type: 'signal',
  name: 'message',
} as never;

/**
 * Update: what `approve`, `reject` and `answer` do, for whoever wants to know whether it was taken; `sendDecision` sends it.
 * Needs a worker. Refused with an ApplicationFailure of type `DecisionRefusedError`, whose details have the `code`.
 */
export const decide: UpdateDefinition<DecisionReceipt, [DecideInput], 'decide'> = {
  type: 'update',
  name: 'decide',
} as never;

/**
 * Update: what the signal `message` does; with update-with-start it starts an agent with its first message. Answers when
 * the run had it, in milliseconds since the epoch. Needs a worker. Refused with an ApplicationFailure of type
 * `DecisionRefusedError`.
 */
export const messageUpdate: UpdateDefinition<{ at: number }, [MessageInput | string], 'message'> = {
  type: 'update',
  name: 'message',
} as never;

/** Query: the decisions that people took, or time did, in the order in which they were asked for. */
export const decisions: QueryDefinition<TakenDecision[], [], 'decisions'> = {
  type: 'query',
  name: 'decisions',
} as never;

/** Query: a page of the run's steps, with what it has spent, decided and waits for. */
export const report: QueryDefinition<RunReport, [ReportPage?], 'report'> = {
  type: 'query',
  name: 'report',
} as never;

/** Query: tokens and dollars: spent, assumed to be lost, and not spent again. */
export const usage: QueryDefinition<RunUsage, [], 'usage'> = { type: 'query', name: 'usage' } as never;

/** Query: the approvals and questions a run waits for, with the id to answer. */
export const waiting: QueryDefinition<Waiting, [], 'waiting'> = { type: 'query', name: 'waiting' } as never;

/** Query: the answers a run has so far, in the order in which they came. */
export const records: QueryDefinition<StepRecord[], [], 'records'> = {
  type: 'query',
  name: 'records',
} as never;
