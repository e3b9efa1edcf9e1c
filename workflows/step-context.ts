/** What a step in flight is, and what taking it needs of its run. */
import type * as wf from '@temporalio/workflow';
import type { Ahead } from '../src/protocol/advance.ts';
import type { EditedArguments, Step, StepRecord } from '../src/protocol/step.ts';
import type { Approvals } from '../src/records/approvals.ts';
import type { Inbox } from '../src/records/inbox.ts';
import type { LoopLink } from './loop-link.ts';
import type { NestedRuns } from './nested-runs.ts';
import type { RunBudget } from './run-budget.ts';

/** A step the run has started and has no answer to. */
export interface InFlight {
  step: Step;
  /** The loop under which it was started. */
  epoch: string;
  /** Its kind; `approval` while it waits for a person, `agent` while it is a child. */
  doing: Step['kind'];
  attempts: number;
  askedAt: number;
  /** When it had room in the budget, if it waited for that. */
  heldUntil?: number;
  /** A person changed its arguments. */
  edited?: EditedArguments;
  scope: wf.CancellationScope;
  /** Nobody wants its answer: the run cancelled it. */
  withdrawn: boolean;
}

/** What a step's answer is, without what the run itself knows; and what the loop asks next, if that came with it. */
export type Answer = Pick<StepRecord, 'value' | 'blob' | 'failure' | 'usage' | 'usd' | 'lost' | 'cached'> & {
  ahead?: Ahead;
};

/** What taking a step needs of its run. */
export interface StepContext {
  /** First run id of the chain. */
  chain: string;
  link: LoopLink;
  /** The present loop has asked for this step. */
  askedNow(key: string): boolean;
  approvals: Approvals;
  inbox: Inbox;
  /** Is told of the children. */
  nested: NestedRuns;
  budget: RunBudget;
  /** How children are called in ids, by the key of their step. */
  labels: Map<string, string>;
  /** What waits has changed. */
  describe(): void;
  /** Hosts lost under this step, by key. */
  losses: Map<string, number>;
  /** Absolute ends of sleeps, by key. */
  sleeps: Map<string, number>;
  /** Keys of tools that the run before this one started and had no answer to: nobody knows what became of them. */
  underWay: Set<string>;
  /** The same of this run. */
  started: Set<string>;
  /** Keys of what the run that this one resumes asked and had no answer to. */
  reopened: Set<string>;
  /** A tool that may have an effect needs a person's approval. */
  asksEffects: boolean;
}

/** What a step is started with. */
export function inputOf({ step, edited }: InFlight): unknown {
  return edited ? edited.arguments : step.input;
}
