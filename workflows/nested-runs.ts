/**
 * A run between its parent and its children: what waits below is known here, a decision on it goes down to where it waits,
 * and the parent is told what waits here and below, and what became of the decisions that came from there.
 */
import * as wf from '@temporalio/workflow';
import type { Door, Nesting, NestedDecision, NestedOutcome } from '../src/protocol/advance.ts';
import { DECIDE_SIGNAL, NESTED_SIGNAL } from '../src/protocol/names.ts';
import type { Waiting } from '../src/protocol/signals.ts';
import { isSome } from '../src/records/budget-ledger.ts';
import { fitReport, NestedWaits } from '../src/records/nested-waits.ts';
import { doorKey } from '../src/records/read-report.ts';
import type { RunSpending } from '../src/records/run-spending.ts';
import type { LoopLink } from './loop-link.ts';
import { handleSignal } from './raw-signals.ts';
import type { RunBudget } from './run-budget.ts';

/** What waits for people. */
type AllThatWaits = Pick<Waiting, 'approvals' | 'questions'>;

export interface NestedRunsOptions {
  link: LoopLink;
  /** Where this run stands, if it is a child. */
  nesting: Nesting | undefined;
  here: Pick<Door, 'workflowId' | 'runId'>;
  /** All that waits, here and below. */
  waiting: () => AllThatWaits;
  /** What the run and those below it have spent. */
  spending: RunSpending;
  budget: RunBudget;
  /** What waits below has changed. */
  changed: () => void;
  /** A decision that came to this run by a signal was refused below. */
  refused: (signal: string, reason: string) => void;
}

export class NestedRuns {
  readonly waits = new NestedWaits();
  readonly #options: NestedRunsOptions;
  /** What the parent is to be told of decisions that came from above. */
  #outcomes: NestedOutcome[] = [];
  /** Who waits for what becomes of a decision below, by its door. */
  readonly #awaited = new Map<string, (outcome: NestedOutcome) => void>();
  /** What waited here when the parent was last to be told. */
  #noted = '';
  /** What it last wanted of its parent's budget. */
  #wanted = '';
  /** The run's asks to tell it: one for each change, so that as often as it is asked it is told, in whatever order things come. */
  #untold: number[] = [];
  #telling = false;
  /** The parent cannot be told anything any more. */
  #orphaned = false;

  constructor(options: NestedRunsOptions) {
    this.#options = options;
  }

  /** @param decided takes a decision that came from above */
  open(decided: (payload: unknown) => void): void {
    handleSignal(NESTED_SIGNAL, (payload) => {
      for (const outcome of this.waits.report(payload)) this.#heard(outcome);
      const { child, allowance } = (payload ?? {}) as { child?: unknown; allowance?: unknown };
      if (typeof child === 'string' && allowance !== undefined)
        this.#options.budget.childSaid(child, allowance);
      this.#options.changed();
    });
    if (!this.#hasParent) return;
    handleSignal(DECIDE_SIGNAL, decided);
    void shielded(() => this.#tellParent());
  }

  /** It is a child of a run that wants to know what waits in it. */
  get #hasParent(): boolean {
    const { nesting } = this.#options;
    return nesting !== undefined && nesting.path !== '' && wf.workflowInfo().parent !== undefined;
  }

  childStarted(child: string, path: string): void {
    this.waits.started(child, path);
  }

  childEnded(child: string): void {
    const spent = this.waits.spentBy(child);
    if (spent) this.#options.spending.childSpent(spent);
    for (const decision of this.waits.ended(child)) this.#heardNothing(decision, child);
    this.#options.changed();
  }

  /** What waits has changed: the parent is told, if it is not what it knows. */
  noteChange(waiting: AllThatWaits): void {
    const summary = this.#summaryOf(waiting);
    if (summary !== this.#noted) this.#mustTell();
    this.#noted = summary;
  }

  /** The run is over: the parent is told what it has spent. */
  noteEnd(): void {
    const { budget, spending } = this.#options;
    budget.giveBack(true);
    if (spending.all.turns > 0 || budget.report()) this.#mustTell();
  }

  /** The parent knows all that it is to know. */
  get allTold(): boolean {
    return this.#untold.length === 0 && !this.#telling;
  }

  handDown(child: string, decision: NestedDecision): void {
    this.waits.handDown(child, decision);
    void shielded(() => this.#handDown(child, decision));
  }

  /** What becomes of the decision that came in by this door, and was handed down. */
  async outcomeOf(door: Door): Promise<NestedOutcome> {
    return await new Promise((resolve) => this.#awaited.set(doorKey(door), resolve));
  }

  /** What became of a decision that came from above. */
  tellOutcome(outcome: NestedOutcome): void {
    if (!this.#hasParent || this.#orphaned) return;
    this.#outcomes.push(outcome);
    this.#mustTell();
  }

  #mustTell(): void {
    if (this.#hasParent && !this.#orphaned) this.#untold.push(this.#options.link.wantsToAct());
  }

  async #handDown(child: string, decision: NestedDecision): Promise<void> {
    try {
      await this.#options.link.mayAct();
      await wf.getExternalWorkflowHandle(child).signal(DECIDE_SIGNAL, decision);
    } catch {
      const lost = this.waits.takeBack(decision);
      if (lost) this.#heardNothing(lost, child);
      this.#options.changed();
    }
  }

  #heardNothing({ door, sent }: NestedDecision, child: string): void {
    const reason = `"${sent.id}" cannot be reached any more in ${child}`;
    this.#heard({ door, workflowId: child, refusal: { code: 'closed', reason } });
  }

  /** What became of a decision: of one that came to this run, or to one above. */
  #heard(outcome: NestedOutcome): void {
    const { door, refusal } = outcome;
    if (door.workflowId !== this.#options.here.workflowId) return this.tellOutcome(outcome);
    const resolve = this.#awaited.get(doorKey(door));
    this.#awaited.delete(doorKey(door));
    if (resolve) resolve(outcome);
    else if (refusal && door.signal !== undefined) this.#options.refused(door.signal, refusal.reason);
  }

  /** Tells the parent what waits here and below, whenever that changes. */
  async #tellParent(): Promise<void> {
    const parent = wf.getExternalWorkflowHandle(wf.workflowInfo().parent!.workflowId);
    while (!this.#orphaned) {
      await wf.condition(() => this.#untold.length > 0);
      this.#telling = true;
      try {
        const { link, waiting: waits } = this.#options;
        await link.until(() => link.mayActOn(this.#untold[0]!));
        this.#untold = this.#untold.filter((ask) => !link.mayActOn(ask));
        const waiting = waits();
        const outcomes = this.#outcomes.splice(0);
        const { here, spending, budget } = this.#options;
        const allowance = budget.report();
        // What it wants was not told, if the loop has not asked for it by now: it will be.
        if (!allowance?.wants && this.#wanted !== '') this.#wanted = this.#noted = '';
        const said = { spent: spending.all, ...(allowance && { allowance }) };
        const report = { child: here.workflowId, ...waiting, outcomes, ...said };
        await parent.signal(NESTED_SIGNAL, fitReport(report));
      } catch {
        // The parent is over.
        this.#orphaned = true;
        this.#options.budget.orphan();
        this.#untold = [];
      }
      this.#telling = false;
    }
  }

  /** As much of what waits as a parent is told anew for. */
  #summaryOf({ approvals, questions }: AllThatWaits): string {
    const waiting = [...approvals, ...questions].map(
      ({ id, audience = '', expiresAt = '' }) => `${id} ${expiresAt} ${audience}`,
    );
    const { returned, wants, grants, busy } = this.#options.budget.report() ?? {};
    // That it wants nothing any more follows from the grant.
    if (wants) this.#wanted = JSON.stringify([wants, grants, busy]);
    waiting.push(this.#wanted, returned && isSome(returned) ? JSON.stringify(returned) : '');
    return waiting.filter(Boolean).join('\n');
  }
}

/** What a handler began is ended in order, though a cancel of the run reaches the scope of handlers. */
export function shielded<T>(body: () => Promise<T>): Promise<T> {
  return wf.CancellationScope.nonCancellable(body);
}
