/** What limits a run: its own budget, with what people raised it by, and what its parent lets it have. */
import { msToNumber } from '@temporalio/common/lib/time.js';
import * as wf from '@temporalio/workflow';
import type { AdvanceInput } from '../src/protocol/advance.ts';
import type { Allowance, Amounts, BudgetLimits, BudgetRules, Grant } from '../src/protocol/budget.ts';
import { DIMENSIONS } from '../src/records/budget-ledger.ts';
import { readBudget } from '../src/records/budget-limits.ts';
import type { BudgetQuestion } from './budget-question.ts';
import { applicationFailure } from './failures.ts';
import type { LoopLink } from './loop-link.ts';

export interface BudgetTermsOptions {
  link: LoopLink;
  question: BudgetQuestion;
  /** Of a child. */
  allowance: Allowance | undefined;
  /** When the first run of the chain began; milliseconds since 1970. */
  startedAt: number;
}

export class BudgetTerms {
  readonly #options: BudgetTermsOptions;
  readonly #ofRun = limitsOfRun();
  readonly startedAt: number;
  /** Of a child: with all that its parent has granted by now. */
  allowance: Allowance | undefined;

  constructor(options: BudgetTermsOptions) {
    this.#options = options;
    this.allowance = options.allowance;
    this.startedAt = options.startedAt;
  }

  /** The run's own budget, as it was: what it was started with, before what its agent has. */
  get limits(): BudgetLimits {
    return { ...this.#options.link.settings.budget, ...this.#ofRun };
  }

  /** How a breach is dealt with: as the run's own budget says, or else its parent's. */
  get rules(): BudgetRules {
    return { ...this.allowance?.rules, ...this.limits };
  }

  /** With what a child starts: so much, and the rules and the time of its parent. */
  allowanceFor(granted: Partial<Amounts>): Allowance {
    const { rules, deadline } = this;
    const { onBreach, audience, unknownPrice, maxOutputTokens } = rules;
    const given = Object.entries({ onBreach, audience, unknownPrice, maxOutputTokens });
    return {
      granted,
      ...(deadline !== undefined && { until: deadline }),
      rules: Object.fromEntries(given.filter(([, value]) => value !== undefined)),
    };
  }

  /** Until when a child has time: `null` takes back a limit that there was. */
  get timeGranted(): Pick<Grant, 'until'> {
    return { until: this.deadline ?? null };
  }

  /** Something limits the run. */
  get isLimited(): boolean {
    const { limits } = this;
    return (
      this.allowance !== undefined ||
      limits.wallTimeMs !== undefined ||
      DIMENSIONS.some((dimension) => limits[dimension] !== undefined)
    );
  }

  /**
   * At a build of a loop: how many tokens a turn is taken to answer at most, as the run and its parent say; what its agent
   * says, only the host knows by then. `undefined`: nothing that is known limits it.
   */
  get maxOutputTokens(): AdvanceInput['maxOutputTokens'] {
    if (!this.isLimited) return undefined;
    const run = this.#ofRun.maxOutputTokens;
    const parent = this.allowance?.rules.maxOutputTokens;
    return { ...(run !== undefined && { run }), ...(parent !== undefined && { parent }) };
  }

  /** The amounts of its own budget, with what people raised it by. */
  get raised(): Partial<Amounts> {
    const { limits } = this;
    return Object.fromEntries(
      DIMENSIONS.flatMap((dimension) => {
        const limit = limits[dimension];
        return limit === undefined ? [] : [[dimension, limit + this.#options.question.raised[dimension]]];
      }),
    );
  }

  /** Whether a turn whose price nobody knows counts as over budget. */
  get needsPrices(): boolean {
    const limitsDollars = this.limits.usd !== undefined || this.allowance?.granted.usd !== undefined;
    const isAllowed = this.#options.question.pricesUnknown || this.rules.unknownPrice === 'allow';
    return limitsDollars && !isAllowed;
  }

  /** When the time of its own budget is over. */
  get ownDeadline(): number | undefined {
    const { wallTimeMs } = this.limits;
    if (wallTimeMs === undefined) return undefined;
    return Math.max(this.startedAt + wallTimeMs, this.#options.question.until ?? 0);
  }

  /** When its time is over, whosever budget that is. */
  get deadline(): number | undefined {
    const own = this.ownDeadline;
    const given = this.allowance?.until;
    return own === undefined || given === undefined ? (own ?? given) : Math.min(own, given);
  }
}

/** The budget that the run was started with, in its memo. */
function limitsOfRun(): BudgetLimits {
  const given = wf.workflowInfo().memo?.['budget'];
  if (given === undefined) return {};
  const limits = readBudget(given, msToNumber as (duration: string | number) => number);
  if (typeof limits !== 'string') return limits;
  throw applicationFailure({
    name: 'DeclarationError',
    message: `The memo "budget" of this run is not valid: ${limits}.`,
  });
}
