/**
 * What a run may spend. A turn reserves its worst case before it is sent; what does not fit waits for what is held to be
 * given back, asks the parent, and at last a person, or fails. Like everything in a run, it acts on what came only once an
 * answer of the loop took account of it, so that a replay does the same in whatever order it is told of things.
 */
import * as wf from '@temporalio/workflow';
import type { AdvanceInput } from '../src/protocol/advance.ts';
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
import { BudgetLedger, grownBy, isSome, needOf, nothing } from '../src/records/budget-ledger.ts';
import { type Breach, breachFailure } from '../src/records/budget-words.ts';
import { allowanceReportIn, grantIn } from '../src/records/read-report.ts';
import type { RunRecords } from '../src/records/run-records.ts';
import { BudgetQuestion } from './budget-question.ts';
import { BudgetTerms } from './budget-terms.ts';
import { sendGrant } from './send-grant.ts';
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
  /** What it is for, in words. */
  what: () => string;
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
  /** What came, and waits to be acted on. */
  #toDo = 0;
  #orphaned = false;
  /** Those below know that nothing more is spent. */
  #toldAll = false;
  /** The last grant that came. */
  #heard: ReturnType<typeof grantIn>;
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
    if (this.#terms.allowance) handleSignal(GRANT_SIGNAL, (payload) => this.#hearGrant(payload));
  }

  /** Something limits the run. */
  get isLimited(): boolean {
    return this.#terms.isLimited;
  }

  get maxOutputTokens(): AdvanceInput['maxOutputTokens'] {
    return this.#terms.maxOutputTokens;
  }

  /** Holds what a turn may cost at most. Answers why it is not to be sent. */
  async reserve(flight: InFlight, losses: number): Promise<StepFailure | undefined> {
    const { step } = flight;
    if (!step.worst) return undefined;
    const need = needOf(step.worst, 1 + losses);
    const isPriced = step.worst.usd !== undefined;
    const claim: Claim = {
      need: () => ({ ...need, ...(!isPriced && this.#terms.needsPrices && { unpriced: true }) }),
      what: () => `turn ${step.name}`,
      wanted: () => this.#options.askedNow(step.key),
    };
    // What attempts before this one held is counted anew.
    this.#ledger.release(step.key, false);
    const { doing } = flight;
    flight.doing = 'approval';
    const waits = this.#judge(claim) !== 'take';
    const refusal = await this.#claim(claim, () => this.#ledger.reserve(step.key, need));
    flight.doing = doing;
    if (waits) flight.heldUntil = Date.now();
    return refusal;
  }

  /** A turn is not under way any more, and has no answer. */
  release(key: string, perhapsPaid: boolean): void {
    this.#ledger.release(key, perhapsPaid);
  }

  /** What a child may spend; `undefined`: nothing limits it. */
  childStarted(id: string): Allowance | undefined {
    if (!this.isLimited) return undefined;
    this.#count();
    const granted = this.#ledger.startChild(id);
    return this.#terms.allowanceFor(granted);
  }

  /** @param neverWas it was not started under this id: there was another */
  childEnded(id: string, neverWas: boolean): void {
    if (this.#ledger.hasChild(id)) void this.#later(() => this.#ledger.endChild(id, neverWas));
  }

  /** @param report from a child, or from anybody */
  childSaid(id: string, report: unknown): void {
    const said = allowanceReportIn(report);
    if (!said) return;
    void this.#later(() => {
      // What comes back from below is not needed here either.
      this.#ledger.giveBack(this.#ledger.hear(id, said));
      if (this.#ledger.wantsOf(id) && !this.#served.has(id)) void this.#serve(id);
    });
  }

  /** The run only waits for what takes long, or is over: what it does not need, others may have. */
  giveBack(over = false): void {
    if (over) this.#question.close();
    if (!this.#terms.allowance) return;
    this.#over = over;
    this.#count();
    this.#ledger.giveBack();
  }

  /** What the parent is to know: of a child with an allowance. */
  report(): AllowanceReport | undefined {
    if (!this.#terms.allowance) return undefined;
    this.#count();
    const waiting = [...this.#waiting].filter(({ refused, wanted }) => !refused && wanted?.() !== false);
    const needs = waiting.flatMap(({ need }) => need() ?? []);
    const whatFor = waiting.map(({ what }) => what());
    const at = Math.max(this.#now, ...needs.map((need) => need.late ?? 0));
    const late = isLate(this.#terms.allowance.until, at) ? at : 0;
    const wants = this.#ledger.lacks(needs);
    const { settled, returned } = this.#ledger;
    return {
      grants: this.#grants,
      returned,
      settled,
      ...(this.#over && { over: true }),
      ...(needs.length > 0 && this.#ledger.mayRelease && { busy: true }),
      ...(needs.length > 0 &&
        (isSome(wants) || late > 0) && {
          wants: { ...wants, what: whatFor[0]!, ...(late > 0 && { late }) },
        }),
    };
  }

  /** The parent is over: it grants nothing any more. */
  orphan(): void {
    if (this.#terms.allowance) void this.#later(() => (this.#orphaned = true));
  }

  get state(): BudgetState | undefined {
    if (!this.isLimited) return undefined;
    this.#count();
    const { spent, reserved, left } = this.#ledger;
    const until = this.#terms.deadline;
    return {
      limits: { ...this.#terms.limits, ...this.#terms.raised },
      spent,
      reserved,
      left,
      ...(until !== undefined && { until }),
    };
  }

  carry(): { budget?: BudgetCarry } {
    if (!this.isLimited) return {};
    const { returned } = this.#ledger;
    // What has come and is not acted on yet, the next run has from its start.
    const heard = this.#heard;
    const { allowance: before } = this.#terms;
    const allowance = before && heard ? grownBy(before, heard) : before;
    return {
      budget: {
        startedAt: this.#terms.startedAt,
        ...this.#question.carry(),
        children: this.#ledger.ended,
        ...(allowance && { allowance: { ...allowance, grants: heard?.grants ?? this.#grants, returned } }),
      },
    };
  }

  /** The time of the last answer that the loop has had, or of the start: the present time is not the same in a replay. */
  get #now(): number {
    const { records, link, paidBefore } = this.#options;
    if (link.from > paidBefore) return records.list[link.from - 1]!.answeredAt;
    return wf.workflowInfo().startTime.getTime();
  }

  /** Takes account of the answers that the loop has had. */
  #count(): void {
    const { records, link } = this.#options;
    for (; this.#counted < link.from; this.#counted++) this.#ledger.settle(records.list[this.#counted]!);
    this.#ledger.limit = this.#terms.raised;
  }

  /** Does something that follows from what came. */
  async #later(act: () => void): Promise<void> {
    this.#toDo++;
    // Whosever it is: a cancel of the run, or of a step, does not end it.
    await wf.CancellationScope.nonCancellable(async () => {
      await this.#options.link.mayAct();
      this.#toDo--;
      act();
      this.#options.changed();
    });
  }

  /** All that came is in the books. */
  async settled(): Promise<void> {
    if (this.#toDo > 0) await wf.condition(() => this.#toDo === 0);
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
          await this.#options.link.until(() => this.#judge(claim) !== 'wait');
        } else if ('failure' in verdict) return verdict.failure;
        else {
          const need = claim.need() ?? nothing();
          const failure = breachFailure(verdict.breach, claim.what(), this.state!, need);
          const { rules } = this.#terms;
          if (rules.onBreach !== 'ask' || this.#isCut || this.#orphaned) return failure;
          const isMoot = () => this.#judge(claim) === 'take';
          await this.#question.answered({ breach: verdict.breach, failure, limits: rules, need, isMoot });
          this.#endAll();
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
    if (denied) return { failure: denied };
    if (claim.wanted?.() === false) return 'wait';
    const at = Math.max(need.late ?? 0, this.#now);
    const { own, allowed } = this.#ledger.short(need);
    const lateHere = isLate(this.#terms.ownDeadline, at);
    const lateAbove = isLate(this.#terms.allowance?.until, at);
    const breach: Breach[] = lateHere ? ['wallTime'] : need.unpriced ? ['unknownPrice'] : own;
    if (breach.length === 0 && allowed.length === 0 && !lateAbove) return 'take';
    if (breach.length > 0 && !(breach === own && this.#ledger.mayRelease))
      // A run that is cancelled asks nobody, and waits for nobody.
      return isOpen && !this.#isCut ? 'wait' : { breach };
    const cannotCome = this.#isCut || (breach.length === 0 && this.#orphaned);
    if (!cannotCome || this.#ledger.mayRelease) return 'wait';
    const short: Breach[] = own.length > 0 ? own : allowed;
    return { breach: short.length > 0 ? short : ['wallTime'] };
  }

  /** The run is cancelled, and the loop knows. */
  get #isCut(): boolean {
    return this.#options.link.cancelSent;
  }

  /** A person refused: those below are told, and fail with whatever they ask next. */
  #endAll(): void {
    const { denied } = this.#question;
    if (!denied || this.#toldAll) return;
    this.#toldAll = true;
    const until = this.#terms.timeGranted;
    for (const id of this.#ledger.children) {
      const grant = this.#ledger.refuse(id);
      if (grant) void sendGrant(id, { ...grant, ...until, refused: denied, final: true });
    }
  }

  /** A child wants more than it has. */
  async #serve(id: string): Promise<void> {
    this.#served.add(id);
    const need = () => this.#ledger.wantsOf(id);
    let grant: Grant | undefined;
    const what = () => `${need()?.what ?? 'what it asks'} of agent ${id}`;
    const refusal = await this.#claim({ need, what }, () => {
      const wants = need();
      if (wants) grant = this.#ledger.grant(id, wants);
    });
    const refused = refusal && this.#ledger.refuse(id);
    if (refused) grant = { ...refused, refused: refusal };
    this.#served.delete(id);
    if (grant) await sendGrant(id, { ...grant, ...this.#terms.timeGranted });
    // It may have said something else meanwhile.
    if (this.#ledger.wantsOf(id) && !this.#served.has(id)) void this.#serve(id);
  }

  /** @param payload from the parent, or from anybody */
  #hearGrant(payload: unknown): void {
    const grant = grantIn(payload);
    if (!grant || grant.grants <= (this.#heard?.grants ?? this.#grants)) return;
    this.#heard = grant;
    void this.#later(() => this.#take(grant));
  }

  #take(grant: NonNullable<ReturnType<typeof grantIn>>): void {
    const { grants, refused, final } = grant;
    const { allowance } = this.#terms;
    if (!allowance || grants <= this.#grants) return;
    const short = (claim: Claim) => {
      const need = claim.need();
      return need && claim.wanted?.() !== false && this.#ledger.short(need).allowed.length > 0;
    };
    const late = isLate(allowance.until, this.#now);
    if (refused) for (const claim of this.#waiting) if (short(claim) || late) claim.refused = refused;
    if (refused && final) this.#question.denied = refused;
    this.#grants = grants;
    this.#terms.allowance = grownBy(allowance, grant);
    this.#ledger.granted = this.#terms.allowance.granted;
    this.#endAll();
  }
}

function isLate(until: number | undefined, at: number): boolean {
  return until !== undefined && at >= until;
}
