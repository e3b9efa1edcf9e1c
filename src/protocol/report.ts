/** What a run says of itself, as data: a page of its steps, and what it has spent, decided and waits for. */
import type { TakenDecision, Waiting } from './signals.ts';
import type { CachedFrom, StepFailure, StepKind } from './step.ts';
import type { RunUsage, Usage } from './usage.ts';

/** Which steps. */
export interface ReportPage {
  /** The first, from 0, in the order in which they were answered. @default 0 */
  from?: number;
  /** How many at most. @default 500, at most 1,000 */
  limit?: number;
}

/** A page of a run's steps, and what the run has spent, decided and waits for. */
export interface RunReport {
  agent: string;
  workflowId: string;
  runId: string;
  /** How many steps were answered. */
  total: number;
  from: number;
  steps: ReportStep[];
  /** What is under way, or waits. */
  inFlight: { kind: StepKind; name: string; askedAt: number; child?: string }[];
  usage: RunUsage;
  /** Without the arguments that a person is asked about: the query `waiting` has them. */
  waiting: Waiting;
  /** Without values and changed arguments: the query `decisions` has them. */
  decisions: TakenDecision[];
}

/** A step that was answered. */
export interface ReportStep {
  /** Its place in the order in which steps were answered, from 0. */
  no: number;
  key: string;
  kind: StepKind;
  name: string;
  /** Milliseconds since the epoch, by the workflow's clock. */
  askedAt: number;
  answeredAt: number;
  attempts: number;
  /** The start of what it was asked, as JSON; of a model's turn the last it was told, as plain text, if the adapter says. */
  asked?: string;
  /** The start of the answer, as JSON. */
  answer?: string;
  /** The answer's whole size as JSON, or in the blob store. */
  bytes: number;
  failure?: StepFailure;
  usage?: Usage;
  /** US dollars; absent beside a usage: no price is known. */
  usd?: number;
  /** How many of the last 20 restarts gave it again from its record. */
  replayed?: number;
  /** When a person, or time, decided that it may start; milliseconds since the epoch. Until then it waited. */
  decidedAt?: number;
  /** Attempts of a turn that vanished with their worker. */
  lost?: number;
  /** A tool was not run: whose answer it is, and how long that took. */
  cached?: CachedFrom;
  /** A person changed the arguments, to this, as JSON, at its start. */
  edited?: string;
  /** A turn that changed code asked anew: the fields of its request that are others. */
  missed?: string[];
  /** It was asked before the code changed, and served after it. */
  beforeChange?: true;
  /** It was paid by the run that this one resumes or forks. */
  paidBefore?: true;
  /** The workflow id of the child that answered it. */
  child?: string;
}
