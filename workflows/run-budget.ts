/**
 * What a run may spend. A turn reserves its worst case before it is sent; what does not fit waits for what is held to be
 * given back, asks the parent, and at last a person, or fails. Like everything in a run, it acts on what came only once an
 * answer of the loop took account of it, so that a replay does the same in whatever order it is told of things.
 */
import * as wf from '@temporalio/workflow';
import type {
  Allowance,
  AllowanceReport,
  Amounts,
  BudgetCarry,
  BudgetState,
  Grant,
} from '../src/protocol/budget.ts';
import { GRANT_SIGNAL } from '../src/protocol/names.ts';
import type { StepFailure } from '../src/protocol/step.ts';
import type { Approvals } from '../src/records/approvals.ts';
import { amountsIn } from '../src/records/budget-limits.ts';
import { allowanceOf, BudgetLedger, isSome, needOf, nothing } from '../src/records/budget-ledger.ts';
import { type Breach, breachFailure } from '../src/records/budget-words.ts';
import { allowanceReportIn } from '../src/records/read-report.ts';
import type { RunRecords } from '../src/records/run-records.ts';
import { BudgetQuestion } from './budget-question.ts';
import { BudgetTerms } from './budget-terms.ts';
import type { LoopLink } from './loop-link.ts';
import { handleSignal } from './raw-signals.ts';
import type { InFlight } from './step-context.ts';

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
  /** Of a turn: whether the present loop asks for it. */
  wanted?: () => boolean;
  refused?: StepFailure;
}

export class RunBudget {
  readonly #options: RunBudgetOptions;
  readonly #ledger: BudgetLedger;
  readonly #terms: BudgetTerms;
  readonly #waiting = new Set<Claim>();
  readonly #served = new Set<string>();
  readonly #question: BudgetQuestion;
  #grants: number;
  #over = false;
  /** How many answers the ledger knows. */
  #counted: number;

  constructor(options: RunBudgetOptions) {
    const { carry } = options;
    this.#options = options;
    const { link, approvals, changed } = options;
    this.#question = new BudgetQuestion({ link, approvals, changed, carry });
    this.#terms = new BudgetTerms({
      link,
      question: this.#question,
      allowance: carry?.allowance ?? options.allowance,
      startedAt: carry?.startedAt ?? wf.workflowInfo().startTime.getTime(),
    });
    this.#ledger = new BudgetLedger(carry?.children);
    this.#ledger.granted = this.#terms.allowance?.granted;
    this.#ledger.returned = carry?.allowance?.returned ?? nothing();
    this.#grants = carry?.allowance?.grants ?? 0;
    this.#counted = options.paidBefore;
    if (this.#terms.allowance) handleSignal(GRANT_SIGNAL, (payload) => void this.#hearGrant(payload));
  }

  /** Something limits the run. */
  get isLimited(): boolean {
    return this.#terms.isLimited;
  }

  /** How many tokens a turn is taken to answer at most, if turns are counted. */
  get maxOutputTokens(): number | undefined {
    return this.#terms.maxOutputTokens;
  }

  /** Holds what a turn may cost at most. Answers why it is not to be sent. */
  async reserve(flight: InFlight, losses: number): Promise<StepFailure | undefined> {
    const { step } = flight;
    if (!step.worst) return undefined;
    const need = needOf(step.worst, losses);
    const isPriced = step.worst.usd !== undefined;
    const claim: Claim = {
      need: () => ({ ...need, ...(!isPriced && this.#terms.needsPrices && { unpriced: true }) }),
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
    return allowanceOf(granted, this.#terms.rules, this.#terms.deadline);
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
    if (!this.#terms.allowance) return;
    this.#over = over;
    this.#count();
    this.#ledger.giveBack();
  }

  /** What the parent is to know: of a child with an allowance. */
  report(): AllowanceReport | undefined {
    if (!this.#terms.allowance) return undefined;
    this.#count();
    const needs = [...this.#waiting].flatMap(({ need, refused, wanted }) =>
      refused || wanted?.() === false ? [] : (need() ?? []),
    );
    const at = Math.max(this.#now, ...needs.map((need) => need.late ?? 0));
    const late = this.#isLate(this.#terms.allowance.until, at) ? at : 0;
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
    const until = this.#terms.deadline;
    return {
      limits: { ...this.#terms.limits, ...this.#terms.raised },
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
        startedAt: this.#terms.startedAt,
        ...this.#question.carry(),
        children: this.#ledger.ended,
        ...(this.#terms.allowance && {
          allowance: { ...this.#terms.allowance, granted, grants: this.#grants, returned },
        }),
      },
    };
  }

  /** The time of the last answer that the loop has had: the present time is not the same in a replay. */
  get #now(): number {
    const { records, link, paidBefore } = this.#options;
    return link.from > paidBefore ? records.list[link.from - 1]!.answeredAt : 0;
  }

  #isLate(until: number | undefined, at: number): boolean {
    return until !== undefined && at >= until;
  }

  /** Takes account of the answers that the loop has had. */
  #count(): void {
    const { records, link } = this.#options;
    for (; this.#counted < link.from; this.#counted++) this.#ledger.settle(records.list[this.#counted]!);
    this.#ledger.limit = this.#terms.raised;
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
        else {
          const failure = breachFailure(verdict.breach, claim.what, this.state!);
          const { rules } = this.#terms;
          if (rules.onBreach !== 'ask') return failure;
          await this.#question.answered(verdict.breach, failure.message, rules);
        }
      }
    } finally {
      this.#waiting.delete(claim);
    }
  }

  #judge(claim: Claim): 'take' | 'wait' | { breach: Breach[] } | { failure: StepFailure } {
    this.#count();
    const need = claim.need();
    if (!need) return 'take';
    if (claim.refused) return { failure: claim.refused };
    const { denied, isOpen } = this.#question;
    if (denied !== undefined) return { failure: { name: 'BudgetExceededError', message: denied } };
    if (isOpen || claim.wanted?.() === false) return 'wait';
    const at = Math.max(need.late ?? 0, this.#now);
    if (this.#isLate(this.#terms.ownDeadline, at)) return { breach: ['wallTime'] };
    if (need.unpriced) return { breach: ['unknownPrice'] };
    const { own, allowed } = this.#ledger.short(need);
    if (own.length > 0) return this.#ledger.mayRelease ? 'wait' : { breach: own };
    return allowed.length > 0 || this.#isLate(this.#terms.allowance?.until, at) ? 'wait' : 'take';
  }

  /** A child wants more than it has. */
  async #serve(id: string): Promise<void> {
    this.#served.add(id);
    const need = () => this.#ledger.wantsOf(id);
    let grant: Omit<Grant, 'until'> | undefined;
    const refusal = await this.#claim({ need, what: `agent ${id}` }, () => {
      const wants = need();
      if (wants) grant = this.#ledger.grant(id, wants);
    });
    if (refusal) grant = { ...this.#ledger.refuse(id)!, refused: refusal.message };
    this.#served.delete(id);
    if (!grant) return;
    const until = this.#terms.deadline;
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
      // In their order: one that anybody made up is no reason to pass over those to come.
      if (grants !== this.#grants + 1 || !this.#terms.allowance) return;
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
      this.#terms.allowance = {
        ...this.#terms.allowance,
        granted: now,
        ...(typeof until === 'number' && { until }),
      };
      if (typeof refused !== 'string') return;
      const failure = { name: 'BudgetExceededError', message: refused };
      for (const claim of this.#waiting) claim.refused = failure;
    });
  }
}
