/** A person is asked whether a budget is raised, by the doors of approvals, and what people said of it so far. */
import { msToNumber } from '@temporalio/common/lib/time.js';
import * as wf from '@temporalio/workflow';
import type { Amounts, BudgetCarry, BudgetLimits } from '../src/protocol/budget.ts';
import { BUDGET_KEY } from '../src/protocol/names.ts';
import type { StepFailure } from '../src/protocol/step.ts';
import type { Approvals } from '../src/records/approvals.ts';
import { nothing, sum } from '../src/records/budget-ledger.ts';
import { amountsIn, RAISE_SCHEMA, raisedTime } from '../src/records/budget-limits.ts';
import { type Breach, raisePrompt } from '../src/records/budget-words.ts';
import type { LoopLink } from './loop-link.ts';

export interface BudgetQuestionOptions {
  link: LoopLink;
  approvals: Approvals;
  carry: BudgetCarry | undefined;
  /** What waits has changed. */
  changed: () => void;
}

/** What a person may raise a budget by. */
interface Raise extends Partial<Amounts> {
  wallTime?: string | number;
  unknownPrice?: 'allow';
}

/** What does not fit. */
interface Asked {
  breach: Breach[];
  failure: StepFailure;
  limits: BudgetLimits;
  need: Amounts;
  isMoot: () => boolean;
}

export class BudgetQuestion {
  readonly #options: BudgetQuestionOptions;
  /** By how much people raised it. */
  raised: Amounts;
  /** Until when there is time, as people said; milliseconds since 1970. */
  until: number | undefined;
  /** Turns whose price nobody knows may be taken. */
  pricesUnknown: boolean;
  /** A person refused to raise it: what everything fails with. */
  denied: StepFailure | undefined;
  /** A person is asked now. */
  isOpen = false;
  /** How often people were asked. */
  #asked: number;

  constructor(options: BudgetQuestionOptions) {
    const { carry } = options;
    this.#options = options;
    this.raised = carry?.raised ?? nothing();
    this.until = carry?.until;
    this.pricesUnknown = carry?.pricesUnknown === true;
    this.denied = carry?.denied;
    this.#asked = carry?.asked ?? 0;
  }

  /**
   * Waits until a person has said whether it is raised, or that is moot: a deploy may raise it too. Whoever comes second
   * waits for the same answer.
   */
  async answered(asked: Asked): Promise<void> {
    if (!this.isOpen) void wf.CancellationScope.nonCancellable(() => this.#ask(asked));
    await wf.condition(() => !this.isOpen || asked.isMoot());
  }

  carry(): Omit<BudgetCarry, 'startedAt' | 'children' | 'allowance'> {
    return {
      raised: this.raised,
      asked: this.#asked,
      ...(this.until !== undefined && { until: this.until }),
      ...(this.pricesUnknown && { pricesUnknown: true }),
      ...(this.denied !== undefined && { denied: this.denied }),
    };
  }

  /** The run is over: nobody needs to answer any more. */
  close(): void {
    if (this.isOpen) this.#options.approvals.close(this.#key);
  }

  /** A run that resumes this one asks anew. */
  get #key(): string {
    return `${BUDGET_KEY}?${wf.workflowInfo().firstExecutionRunId}?${this.#asked}`;
  }

  async #ask({ breach, failure, limits, need }: Asked): Promise<void> {
    const { approvals, link, changed } = this.#options;
    this.isOpen = true;
    const key = this.#key;
    const input = raiseFor(breach, limits, need);
    approvals.ask(key, {
      name: 'budget',
      prompt: raisePrompt(failure.message, input),
      input,
      edit: RAISE_SCHEMA,
      ...(limits.audience !== undefined && { audience: limits.audience }),
      at: Date.now(),
    });
    changed();
    await wf.condition(() => approvals.decision(key) !== undefined);
    await link.mayAct();
    approvals.close(key);
    const { approved, arguments: edited, reason, at } = approvals.decision(key)!;
    this.#asked++;
    if (approved) this.#raise((edited as Raise | undefined) ?? input, at);
    else this.denied = { ...failure, message: `The budget was not raised: ${reason ?? failure.message}` };
    this.isOpen = false;
    changed();
  }

  /** Time is given from when it was given. */
  #raise(by: Raise, at: number): void {
    // Sums of dollars are not exact, and are shown.
    const { usd, ...rest } = sum(this.raised, amountsIn(by));
    this.raised = { usd: Number(usd.toFixed(9)), ...rest };
    if (by.unknownPrice) this.pricesUnknown = true;
    const ms = raisedTime(by.wallTime, msToNumber as (duration: string | number) => number);
    if (ms !== undefined) this.until = at + ms;
  }
}

const SOME: Amounts = { usd: 1, tokens: 100_000, turns: 10 };

/** By how much a budget is raised, if whoever approves says nothing else: by as much as it was, or as is needed. */
function raiseFor(breach: readonly Breach[], limits: BudgetLimits, need: Amounts): Raise {
  const input: Raise = {};
  for (const dimension of breach) {
    // A budget of nothing is raised by something.
    if (dimension === 'wallTime') input.wallTime = limits.wallTimeMs || 60_000;
    else if (dimension === 'unknownPrice') input.unknownPrice = 'allow';
    else input[dimension] = Math.max(limits[dimension]!, need[dimension]) || SOME[dimension];
  }
  return input;
}
