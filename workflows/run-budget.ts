/**
 * What a run may spend. A turn reserves its worst case before it is sent; what does not fit waits for what is held to be
 * given back, asks the parent, and at last a person, or fails. Like everything in a run, it acts on what came only once an
 * answer of the loop took account of it, so that a replay does the same in whatever order it is told of things.
 */
import { msToNumber } from '@temporalio/common/lib/time.js';
import * as wf from '@temporalio/workflow';
import type {
  Allowance,
  AllowanceReport,
  Amounts,
  BudgetCarry,
  BudgetLimits,
  BudgetState,
  Grant,
} from '../src/protocol/budget.ts';
import { MAX_OUTPUT_TOKENS } from '../src/protocol/limits.ts';
import { GRANT_SIGNAL } from '../src/protocol/names.ts';
import type { StepFailure } from '../src/protocol/step.ts';
import type { Approvals } from '../src/records/approvals.ts';
import { amountsIn, RAISE_SCHEMA, readBudget } from '../src/records/budget-limits.ts';
import {
  allowanceOf,
  BudgetLedger,
  DIMENSIONS,
  isSome,
  needOf,
  nothing,
  sum,
} from '../src/records/budget-ledger.ts';
import { type Breach, breachFailure, raisePrompt } from '../src/records/budget-words.ts';
import { allowanceReportIn } from '../src/records/read-report.ts';
import type { RunRecords } from '../src/records/run-records.ts';
import { applicationFailure } from './failures.ts';
import type { LoopLink } from './loop-link.ts';
import { handleSignal } from './raw-signals.ts';
import type { InFlight } from './step-context.ts';

/** Keys of what a person is asked about a budget begin with it. */
export const BUDGET_KEY = 'budget';

export interface RunBudgetOptions {
  link: LoopLink;
  approvals: Approvals;
  records: RunRecords;
  /** How many of the records the run that this one resumes or forks had paid. */
  paidBefore: number;
  /** Of a child. */
  allowance: Allowance | undefined;
  carry: BudgetCarry | undefined;
  /** Whether the present loop has asked for what has this key. */
  askedNow: (key: string) => boolean;
  /** What a person sees, or the parent is to know, has changed. */
  changed: () => void;
}

interface Claim {
  /** `undefined`: nothing any more. */
  need: () => (Amounts & { late?: number; unpriced?: boolean }) | undefined;
  /** Whose it is, in words. */
  what: string;
  /** Whether the present loop asks for it. */
  wanted: () => boolean;
  refused?: StepFailure;
}

export class RunBudget {
  readonly #options: RunBudgetOptions;
  readonly #ledger: BudgetLedger;
  readonly #ofRun: BudgetLimits;
  readonly #startedAt: number;
  readonly #waiting = new Set<Claim>();
  readonly #served = new Set<string>();
  #allowance: Allowance | undefined;
  #grants: number;
  #raised: Amounts;
  #asked: number;
  #until: number | undefined;
  #pricesUnknown: boolean;
  #denied: string | undefined;
  #asking = false;
  #over = false;
  /** How many answers the ledger knows. */
  #counted: number;

  constructor(options: RunBudgetOptions) {
    const { carry } = options;
    this.#options = options;
    this.#ofRun = limitsOfRun();
    this.#ledger = new BudgetLedger(carry?.children);
    this.#allowance = carry?.allowance ?? options.allowance;
    this.#ledger.granted = this.#allowance?.granted;
    this.#ledger.returned = carry?.allowance?.returned ?? nothing();
    this.#grants = carry?.allowance?.grants ?? 0;
    this.#startedAt = carry?.startedAt ?? wf.workflowInfo().startTime.getTime();
    this.#raised = carry?.raised ?? nothing();
    this.#asked = carry?.asked ?? 0;
    this.#until = carry?.until;
    this.#pricesUnknown = carry?.pricesUnknown === true;
    this.#denied = carry?.denied;
    this.#counted = options.paidBefore;
    if (this.#allowance) handleSignal(GRANT_SIGNAL, (payload) => void this.#hearGrant(payload));
  }

  /** Something limits the run. */
  get isLimited(): boolean {
    const { limits } = this;
    return (
      this.#allowance !== undefined ||
      limits.wallTimeMs !== undefined ||
      DIMENSIONS.some((dimension) => limits[dimension] !== undefined)
    );
  }

  /** The run's own budget: what it was started with, before what its agent has. */
  get limits(): BudgetLimits {
    return { ...this.#options.link.settings.budget, ...this.#ofRun };
  }

  /** How many tokens a turn is taken to answer at most, if turns are counted. */
  get maxOutputTokens(): number | undefined {
    const { maxOutputTokens = this.#allowance?.maxOutputTokens ?? MAX_OUTPUT_TOKENS } = this.limits;
    return this.isLimited ? maxOutputTokens : undefined;
  }

  /** Holds what a turn may cost at most. Answers why it is not to be sent. */
  async reserve(flight: InFlight, losses: number): Promise<StepFailure | undefined> {
    const { step } = flight;
    if (!step.worst) return undefined;
    const unpriced = step.worst.usd === undefined && this.#limitsDollars && !this.#allowsUnknownPrice;
    const need = { ...needOf(step.worst, losses), ...(unpriced && { unpriced }) };
    const claim: Claim = {
      need: () => {
        const { unpriced: _unpriced, ...known } = need;
        return this.#allowsUnknownPrice ? known : need;
      },
      what: `turn ${step.name}`,
      wanted: () => this.#options.askedNow(step.key),
    };
    // What an attempt before this one held is counted anew.
    this.#ledger.release(step.key);
    const { doing } = flight;
    flight.doing = 'approval';
    const refusal = await this.#claim(claim, () => this.#ledger.reserve(step.key, need));
    flight.doing = doing;
    return refusal;
  }

  /** A turn was not sent, and will not be. */
  release(key: string): void {
    this.#ledger.release(key);
  }

  /** What a child may spend; `undefined`: nothing limits it. */
  childStarted(id: string): Allowance | undefined {
    if (!this.isLimited) return undefined;
    this.#count();
    const granted = this.#ledger.startChild(id);
    return allowanceOf(granted, { ...this.#allowance, ...this.limits }, this.#deadline);
  }

  /** @param neverWas it was not started under this id: there was another */
  childEnded(id: string, neverWas: boolean): void {
    if (this.isLimited) void this.#later(() => this.#ledger.endChild(id, neverWas));
  }

  /** @param report from a child, or from anybody */
  childSaid(id: string, report: unknown): void {
    const said = allowanceReportIn(report);
    if (!said) return;
    void this.#later(() => {
      this.#ledger.hear(id, said);
      if (this.#ledger.wantsOf(id) && !this.#served.has(id)) void this.#serve(id);
    });
  }

  /** The run only waits for what takes long, or is over: what it does not need, others may have. */
  giveBack(over = false): void {
    if (!this.#allowance) return;
    this.#over = over;
    this.#count();
    this.#ledger.giveBack();
  }

  /** What the parent is to know: of a child with an allowance. */
  report(): AllowanceReport | undefined {
    if (!this.#allowance) return undefined;
    this.#count();
    const needs = [...this.#waiting].flatMap(({ need, refused, wanted }) =>
      refused || !wanted() ? [] : (need() ?? []),
    );
    const late = this.#allowance.until !== undefined && this.#isLate(this.#allowance.until) ? this.#now : 0;
    const wants = this.#ledger.lacks(needs);
    const { settled, returned } = this.#ledger;
    return {
      grants: this.#grants,
      returned,
      settled,
      ...(this.#over && { over: true }),
      ...(needs.length > 0 &&
        (isSome(wants) || late > 0) && { wants: { ...wants, ...(late > 0 && { late }) } }),
    };
  }

  get state(): BudgetState | undefined {
    if (!this.isLimited) return undefined;
    this.#count();
    const { settled, held, left, granted, returned } = this.#ledger;
    const until = this.#deadline;
    return {
      limits: { ...this.limits, ...this.#limit() },
      ...(granted && {
        allowance: Object.fromEntries(
          Object.entries(granted).map(([dimension, amount]) => [
            dimension,
            amount - returned[dimension as keyof Amounts],
          ]),
        ),
      }),
      spent: settled,
      reserved: held,
      left,
      ...(until !== undefined && { until }),
    };
  }

  carry(): { budget?: BudgetCarry } {
    if (!this.isLimited) return {};
    const { returned, granted = {} } = this.#ledger;
    return {
      budget: {
        startedAt: this.#startedAt,
        raised: this.#raised,
        asked: this.#asked,
        ...(this.#until !== undefined && { until: this.#until }),
        ...(this.#pricesUnknown && { pricesUnknown: true }),
        ...(this.#denied !== undefined && { denied: this.#denied }),
        children: this.#ledger.ended,
        ...(this.#allowance && {
          allowance: { ...this.#allowance, granted, grants: this.#grants, returned },
        }),
      },
    };
  }

  get #limitsDollars(): boolean {
    return this.limits.usd !== undefined || this.#allowance?.granted.usd !== undefined;
  }

  get #allowsUnknownPrice(): boolean {
    const { unknownPrice = this.#allowance?.unknownPrice } = this.limits;
    return this.#pricesUnknown || unknownPrice === 'allow';
  }

  get #deadline(): number | undefined {
    const own = this.#ownDeadline;
    const given = this.#allowance?.until;
    return own === undefined || given === undefined ? (own ?? given) : Math.min(own, given);
  }

  get #ownDeadline(): number | undefined {
    const { wallTimeMs } = this.limits;
    return wallTimeMs === undefined ? undefined : Math.max(this.#startedAt + wallTimeMs, this.#until ?? 0);
  }

  /** The time of the last answer that the loop has had: the present time is not the same in a replay. */
  get #now(): number {
    const { records, link, paidBefore } = this.#options;
    return link.from > paidBefore ? records.list[link.from - 1]!.answeredAt : 0;
  }

  #isLate(until: number | undefined, at = this.#now): boolean {
    return until !== undefined && at >= until;
  }

  #limit(): Partial<Amounts> {
    const { limits } = this;
    return Object.fromEntries(
      DIMENSIONS.flatMap((dimension) => {
        const limit = limits[dimension];
        return limit === undefined ? [] : [[dimension, limit + this.#raised[dimension]]];
      }),
    );
  }

  /** Takes account of the answers that the loop has had. */
  #count(): void {
    const { records, link } = this.#options;
    for (; this.#counted < link.from; this.#counted++) this.#ledger.settle(records.list[this.#counted]!);
    this.#ledger.limit = this.#limit();
  }

  /** Does something that follows from what came. */
  async #later(act: () => void): Promise<void> {
    await this.#options.link.mayAct();
    act();
    this.#options.changed();
  }

  async #claim(claim: Claim, take: () => void): Promise<StepFailure | undefined> {
    this.#waiting.add(claim);
    try {
      for (;;) {
        const verdict = this.#judge(claim);
        if (verdict === 'take') {
          take();
          return undefined;
        }
        if (verdict === 'wait') {
          this.#options.changed();
          await wf.condition(() => this.#judge(claim) !== 'wait');
        } else if ('failure' in verdict) return verdict.failure;
        else if (this.#onBreach === 'fail') return breachFailure(verdict.breach, claim.what, this.state!);
        else await this.#untilDecided(verdict.breach, claim);
      }
    } finally {
      this.#waiting.delete(claim);
    }
  }

  get #onBreach(): 'fail' | 'ask' {
    return this.limits.onBreach ?? this.#allowance?.onBreach ?? 'fail';
  }

  #judge(claim: Claim): 'take' | 'wait' | { breach: Breach[] } | { failure: StepFailure } {
    this.#count();
    const need = claim.need();
    if (!need) return 'take';
    if (claim.refused) return { failure: claim.refused };
    if (this.#denied !== undefined)
      return { failure: { name: 'BudgetExceededError', message: this.#denied } };
    if (this.#asking || !claim.wanted()) return 'wait';
    if (this.#isLate(this.#ownDeadline, Math.max(need.late ?? 0, this.#now))) return { breach: ['wallTime'] };
    if (need.unpriced) return { breach: ['unknownPrice'] };
    const { own, allowed } = this.#ledger.short(need);
    if (own.length > 0) return this.#ledger.mayRelease ? 'wait' : { breach: own };
    if (allowed.length > 0 || this.#isLate(this.#allowance?.until, Math.max(need.late ?? 0, this.#now)))
      return 'wait';
    return 'take';
  }

  /** A child wants more than it has. */
  async #serve(id: string): Promise<void> {
    this.#served.add(id);
    const need = () => this.#ledger.wantsOf(id);
    let grant: Omit<Grant, 'until'> | undefined;
    const wanted = () => true;
    const refusal = await this.#claim({ need, what: `agent ${id}`, wanted }, () => {
      const wants = need();
      if (wants) grant = this.#ledger.grant(id, wants);
    });
    if (refusal) grant = { ...this.#ledger.refuse(id)!, refused: refusal.message };
    this.#served.delete(id);
    if (!grant) return;
    const until = this.#deadline;
    try {
      await wf
        .getExternalWorkflowHandle(id)
        .signal(GRANT_SIGNAL, { ...grant, ...(until !== undefined && { until }) });
    } catch {
      // It is over.
    }
  }

  async #hearGrant(payload: unknown): Promise<void> {
    const { grants, granted, until, refused } = (payload ?? {}) as Partial<Grant>;
    await this.#later(() => {
      if (typeof grants !== 'number' || !(grants > this.#grants) || !this.#allowance) return;
      this.#grants = grants;
      const given = amountsIn(granted);
      const before = this.#ledger.granted ?? {};
      const now = Object.fromEntries(
        Object.entries(before).map(([dimension, amount]) => [
          dimension,
          Math.max(amount, given[dimension as keyof Amounts]),
        ]),
      );
      this.#ledger.granted = now;
      this.#allowance = { ...this.#allowance, granted: now, ...(typeof until === 'number' && { until }) };
      if (typeof refused !== 'string') return;
      const failure = { name: 'BudgetExceededError', message: refused };
      for (const claim of this.#waiting) claim.refused = failure;
    });
  }

  async #untilDecided(breach: Breach[], { what }: Claim): Promise<void> {
    if (!this.#asking) void wf.CancellationScope.nonCancellable(() => this.#ask(breach, what));
    await wf.condition(() => !this.#asking);
  }

  async #ask(breach: Breach[], what: string): Promise<void> {
    const { approvals, link, changed } = this.#options;
    const { limits } = this;
    this.#asking = true;
    const key = `${BUDGET_KEY}?${wf.workflowInfo().firstExecutionRunId}?${this.#asked}`;
    const input = raiseFor(breach, limits);
    const failure = breachFailure(breach, what, this.state!);
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
    if (approved) this.#raise((edited ?? input) as typeof input, at);
    else this.#denied = reason ?? `${failure.message} A person refused to raise it.`;
    this.#asking = false;
    changed();
  }

  #raise(by: ReturnType<typeof raiseFor>, at: number): void {
    this.#raised = sum(this.#raised, amountsIn(by));
    if (by.unknownPrice) this.#pricesUnknown = true;
    if (by.wallTime !== undefined)
      this.#until = Math.max(this.#ownDeadline ?? 0, at) + msToNumber(by.wallTime);
  }
}

/** By how much a budget is raised, if whoever approves says nothing else: by as much as it was. */
function raiseFor(breach: readonly Breach[], limits: BudgetLimits) {
  const input: Partial<Amounts> & { wallTime?: string | number; unknownPrice?: 'allow' } = {};
  for (const dimension of breach) {
    if (dimension === 'wallTime') input.wallTime = limits.wallTimeMs!;
    else if (dimension === 'unknownPrice') input.unknownPrice = 'allow';
    else input[dimension] = limits[dimension]!;
  }
  return input;
}

/** The budget that the run was started with, in its memo. */
function limitsOfRun(): BudgetLimits {
  const given = wf.workflowInfo().memo?.['budget'];
  if (given === undefined) return {};
  const limits = readBudget(given, msToNumber as (duration: string | number) => number);
  if (typeof limits !== 'string') return limits;
  throw applicationFailure({
    name: 'DeclarationError',
    message: `The memo "budget" of this run is none: ${limits}.`,
  });
}
