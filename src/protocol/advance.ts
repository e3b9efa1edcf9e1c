/** What the run and the process that holds its loop say to each other. Types only. */
import type { Duration, RetryPolicy } from '@temporalio/common';
import type { Allowance, AllowanceReport, BudgetCarry, BudgetLimits } from './budget.ts';
import type { AHEAD, LOCAL_INPUT } from './names.ts';
import type { RunFacts } from './search-attributes.ts';
import type { Message, PendingApproval, PendingQuestion, Refusal, SentDecision } from './signals.ts';
import type { AnswerBlob, CachedFrom, Step, StepFailure, StepRecord } from './step.ts';
import type { RunUsage, Spent, Usage } from './usage.ts';

/** What the run tells the host when it wants the loop to go on. Never in history: a local activity's input is not recorded. */
export interface AdvanceInput {
  /** Comes first: payloads that begin so are not kept in a blob store. */
  [LOCAL_INPUT]: 1;
  agent: string;
  input: unknown;
  /** The loop the run knows; absent: build one from all records. */
  epoch?: string | undefined;
  /** How many records the loop has had, as far as the run knows; `records` are those after them. */
  from: number;
  records: StepRecord[];
  /** The highest step number the run has; steps up to it are acknowledged. */
  seen: number;
  /** How many steps are in flight, so that more may come soon. */
  inFlight: number;
  /** Signals of the loop that the run has had. */
  pokes: number;
  /** How often something in the run asked to act on what came: a decision, a call to be tried elsewhere. */
  acts: number;
  /** How often in a row the answer was `again`. */
  agains?: number;
  /** Length of the history as the workflow sees it: it ends with the start of the present task. */
  historyLength: number;
  /** At a build: first run id of the chain, from which idempotency keys are made. */
  chain?: string;
  /** At a build: keys of the steps that earlier loops asked and that have no record. */
  pending?: string[];
  /** At a build: those of them that were asked since a loop with changed code left the recorded path. */
  pendingChanged?: string[];
  /** At a build: how many records there were when a loop with changed code last left the recorded path. */
  divergedAt?: number;
  /** At a build: so many records stand whatever the loop's code asks. */
  pinned?: number;
  /**
   * At a build, of a run that has a budget, as far as it knows without its agent's: how many tokens a turn that sets no
   * limit is taken to answer at most, as whoever started the run says, and as its parent does.
   */
  maxOutputTokens?: { run?: number; parent?: number };
  /** At a build: how many processes died of late, one after the other, while the loop's own code ran and asked nothing. */
  deaths?: number;
  /** The workflow task timeout of the run, in milliseconds. */
  taskTimeoutMs: number;
  /** When the present task started, by the server's clock; milliseconds since 1970. */
  taskStartedAt: number;
  /** How many messages the run has had. */
  messages?: number;
  /** Nothing is in flight but what can be asked again, and nobody waits to hear something. */
  settled?: boolean;
  /** What the run can be found by, if that has changed. */
  facts?: RunFacts;
  /** The run only says that: it has nothing for the loop, and wants nothing of it. */
  noteFacts?: true;
  /** At a build, of a tool that suspends: the idempotency key of its call. */
  idempotencyKey?: string;
  /** The run is cancelled: tell the loop. */
  cancel?: true;
  /** The run goes on as a new one, or is over: drop the loop. */
  leave?: true;
}

/** What the workflow needs to know of the host and the agent's options; sent when a loop is built. */
export interface RunSettings {
  /** Retry policy of model turns. */
  turnRetry?: RetryPolicy;
  turnTimeout?: Duration;
  /** Heartbeat timeout of turns and of tools with a body. */
  heartbeatTimeout?: Duration;
  /** How often the agent's function is started again after it threw. */
  agentRetries?: number;
  /** What each of its runs may spend. */
  budget?: BudgetLimits;
  /** How long a loop beside a long wait must be quiet until nobody watches it, in milliseconds. */
  watchForMs?: number;
  /** Where prices are from. */
  priceTable?: string;
  /** Search attributes that the server has, of those that a run can set. */
  searchAttributes?: string[];
  /** Payloads of any size are kept outside the history. */
  storesPayloads?: true;
  /** Records at which the run continues as new, if sooner than the server suggests; for tests. */
  continueAfterRecords?: number;
}

/** How a loop ended. */
export type LoopEnd = { output?: unknown; failure?: undefined } | { failure: StepFailure; final?: boolean };

/** Counts that the run sent; 0 is left out. */
export interface Took {
  records?: number;
  pokes?: number;
  acts?: number;
  messages?: number;
  settled?: boolean;
  /** Of a build only if the server has search attributes. */
  facts?: RunFacts;
  cancel?: true;
}

/** The host's answer to `advance`. */
export interface Advance {
  /** The task under which this was asked is not the server's: ask again, with whatever is known by then. */
  again?: true;
  /** With `again`: so many answers came at once that the server ended the task; keep fewer steps in flight. */
  crowded?: true;
  /** The run only wanted that to be known: the loop was not asked. */
  noted?: true;
  /** This process has no loop that is where the run is; why. */
  lost?: string;
  /** This process cannot build the loop as it is set up; why. Fails the workflow task, not the run. */
  unable?: string;
  /** A loop was built: its name, where it lives, and what the run must know. */
  built?: {
    epoch: string;
    host: string;
    settings?: RunSettings;
    /** With records: how many milliseconds it needed to be where the run is. */
    ms?: number;
    /** A signal that names this epoch is on its way. */
    traced?: true;
  };
  steps?: Step[];
  /** What this answer took account of; the run goes by this, not by what it has learnt since. */
  took?: Took;
  end?: LoopEnd;
  /** Set once, when this loop leaves the recorded path: how many records there were. */
  divergedAt?: number;
}

/** A run that another goes on from. */
export interface OtherRun {
  workflowId: string;
  runId: string;
  /** A fork: how many of its records are kept; absent: it is resumed, with all of them. */
  fork?: { keep: number };
}

/** The second argument of a run that goes on from another, or is a child. */
export interface RunOrigin {
  version: 1;
  /** The run whose records it starts with. */
  from?: OtherRun;
  /** Tools that may have an effect need a person's approval. */
  asksEffects?: true;
  /** It is a child of another run of ours. */
  nesting?: Nesting;
}

/** What became of a child: it is to be resumed, or it is done. */
export type ChildRun = { from: OtherRun } | { from?: undefined; result: unknown };

/** What the activity that reads another run answers. */
export interface RunRead {
  input: unknown;
  carry: Omit<RunCarry, 'chain'> & { chain?: string };
}

/** The second argument of a run that was continued as new. */
export interface RunCarry {
  version: 1;
  records: StepRecord[];
  /** First run id of the chain, from which idempotency keys are made. */
  chain: string;
  approvals: ApprovalsCarry;
  /** Keys of steps whose host was lost, and how often. */
  losses: [string, number][];
  /** Absolute ends of the sleeps in flight, by key. */
  sleeps: [string, number][];
  /** Keys of the steps asked that have no record; true: since a loop with changed code left the recorded path. */
  open: [string, boolean][];
  agentFailures: number;
  divergedAt?: number;
  /** Keys of the tools that were started and have no answer, so that they may have had their effect. */
  underWay?: string[];
  /** Of a resumed run: keys of what the one before asked and has no answer to. */
  reopened?: string[];
  /** With what failure the run ended. */
  failure?: StepFailure;
  /** Of a fork: so many records stand whatever its code asks now. */
  pinned?: number;
  /** Tools that may have an effect need a person's approval. */
  asksEffects?: true;
  nesting?: Nesting;
  /** How the children are called in ids, by the key of the step. */
  labels?: [string, string][];
  /** Messages that nobody has read. */
  inbox?: Message[];
  /** How many of the records the run that this one resumes or forks had paid. */
  paidBefore?: number;
  /** What the children that are over have spent. */
  children?: Spent;
  budget?: BudgetCarry;
  /** What loops that were built again did not ask again; `last`: how many records the last of them were given. */
  replayed?: RunUsage['replayed'] & { last: number[] };
}

/** Approvals as they go over to the next run of the chain. */
export interface ApprovalsCarry {
  /** How many ids were minted for each name. */
  minted: [string, number][];
  /** By key of each step that has asked: its id, its decision, and what a person must know while it waits for one. */
  asked: [
    string,
    {
      id: string;
      name?: string;
      argumentsHash?: string;
      decision?: Decision;
      open?: Omit<PendingApproval, 'id' | 'input' | 'escalated' | 'withdrawn'>;
      /** It is a question: its schema. */
      answer?: Record<string, unknown>;
      /** Others were asked, and this is what happens when they do not decide in time. */
      escalated?: 'reject' | 'approve';
    },
  ][];
}

/** A decision, as it is recorded. */
export interface Decision {
  /** Of a question: whether it was answered. */
  approved: boolean;
  /** The answer to a question. */
  value?: unknown;
  /** What the person made of the arguments. */
  arguments?: unknown;
  /** Nobody decided in time. */
  timedOut?: true;
  reason?: string;
  note?: string;
  by?: string;
  /** Milliseconds since the epoch, by the workflow's clock. */
  at: number;
  door?: Door;
}

/** How something came to a run, so that it can be found in that run's history, where the server says who sent it. */
export interface Door {
  workflowId: string;
  runId: string;
  /** It was the signal of this name, the so-many-th in the run. */
  signal?: string;
  nth?: number;
  /** It was an update with this id. */
  updateId?: string;
}

/** What a child tells its parent: what waits in it, and below, and what became of decisions that came from above. */
export interface NestedReport {
  child: string;
  approvals: PendingApproval[];
  questions: PendingQuestion[];
  outcomes: NestedOutcome[];
  /** All that it and the runs below it have spent so far. */
  spent?: Spent;
  allowance?: AllowanceReport;
}

export interface NestedOutcome {
  door: Door;
  /** The run in which it waited. */
  workflowId: string;
  refusal?: Refusal;
}

/** What a run hands down to the child in which it is to be decided. */
export interface NestedDecision {
  door: Door;
  sent: SentDecision;
}

/** What a child knows of where it stands. */
export interface Nesting {
  /** Ids of what waits in it begin so: `researcher-1/`. */
  path: string;
  /** What it may spend of the budget of the run whose child it is; absent: that has none. */
  allowance?: Allowance;
  /** Of the call that it is, where that is a tool's. */
  idempotencyKey?: string;
  /** How often a tool's body is started again after it threw. */
  retries?: number;
}

/**
 * What a loop asks next, sent along with the answer to the one step it waited for: it was given that before the run has
 * it. The run takes it if that is the next thing it learns, and otherwise asks by `advance`, which notices a loop that
 * went another way.
 */
export interface Ahead {
  epoch: string;
  /** As of the record of that step: `took` says which in the order of the records that is. */
  next: Advance;
}

/** What the activity that runs a closure answers. */
export interface CallResult {
  /** The loop is not in this process; nothing else is said then. */
  moved?: true;
  value?: unknown;
  /** Stands in the place of a large value. */
  blob?: AnswerBlob;
  usage?: Usage;
  usd?: number;
  /** Attempts of a turn that the provider may have charged, and did not answer. */
  lost?: number;
  cached?: CachedFrom;
  ahead?: Ahead;
}

/** What the activity of a tool answers, if not just the tool's result. */
export interface ToolEnvelope {
  value?: unknown;
  /** Stands in the place of a large value. */
  blob?: AnswerBlob;
  cached?: CachedFrom;
  /** `null`: none; the result itself has such a field. */
  [AHEAD]: Ahead | null;
}

/** What a watch of a loop can end with. */
export type WatchResult = 'ready' | 'gone' | 'quiet';
