import type { NestedDecision, NestedOutcome, NestedReport } from '../protocol/advance.ts';
import type { Pending, PendingApproval, PendingQuestion } from '../protocol/signals.ts';
import type { Spent } from '../protocol/usage.ts';
import { approvalIn, doorKey, listOf, outcomeIn, questionIn, spentIn } from './read-report.ts';
import { marksOf, sameMarks } from './run-facts.ts';
import { clip } from './refusals.ts';

/** More is not shown above: a report is one signal. */
const MAX_REPORT_BYTES = 256 * 1024;
const SHORT_CHARS = 200;

/**
 * What waits in the runs below this one, by child. A child says all of it anew whenever it changes, so that a report that
 * comes twice, or is made by somebody else, can do no more than show something wrong: what is decided is looked at there.
 */
export class NestedWaits {
  /** By workflow id, of the children that are under way: where their ids begin, and what waits in them. */
  readonly #children = new Map<string, { path: string; report?: NestedReport }>();
  /** Decisions that were handed down and of which nothing was heard, by id. */
  readonly #handedDown = new Map<string, NestedDecision & { child: string }>();

  /** How often what waits has changed. */
  changes = 0;

  /** A child is started; its ids begin with this. */
  started(child: string, path: string): void {
    this.#children.set(child, { path });
  }

  /** A child is over. Answers the decisions that it had been given and said nothing of. */
  ended(child: string): NestedDecision[] {
    const { report } = this.#children.get(child) ?? {};
    if (report && report.approvals.length + report.questions.length > 0) this.changes++;
    this.#children.delete(child);
    const lost = [...this.#handedDown].filter(([, decision]) => decision.child === child);
    for (const [id] of lost) this.#handedDown.delete(id);
    return lost.map(([, decision]) => decision);
  }

  /** Takes what a child says. Answers what became of decisions, which it was told of by this run or from above. */
  report(report: unknown): NestedOutcome[] {
    const { child, ...given } = (report ?? {}) as Record<string, unknown>;
    const known = typeof child === 'string' && this.#children.get(child);
    if (!known) return [];
    const below = (pending: Pending) => pending.id.startsWith(known.path);
    const outcomes = listOf(given['outcomes']).flatMap(outcomeIn);
    const spent = spentIn(given['spent']);
    const before = marksOf(known.report ?? { approvals: [], questions: [] });
    known.report = {
      child,
      ...(spent && { spent }),
      approvals: listOf(given['approvals']).flatMap(approvalIn).filter(below),
      questions: listOf(given['questions']).flatMap(questionIn).filter(below),
      outcomes: [],
    };
    if (!sameMarks(before, marksOf(known.report))) this.changes++;
    return outcomes.filter((outcome) => this.takeBack(outcome, child));
  }

  /** What a child has spent, as it last said. */
  spentBy(child: string): Spent | undefined {
    return this.#children.get(child)?.report?.spent;
  }

  /** A decision that was handed down is so no longer: something was heard of it, or nothing can be. */
  takeBack({ door }: Pick<NestedDecision, 'door'>, child?: string): NestedDecision | undefined {
    for (const [id, decision] of this.#handedDown) {
      const isIt = doorKey(decision.door) === doorKey(door) && child === (child && decision.child);
      if (!isIt) continue;
      this.#handedDown.delete(id);
      this.changes++;
      return decision;
    }
    return undefined;
  }

  /** The child in which this waits, or below which. */
  childOf(id: string | undefined): string | undefined {
    if (id === undefined || this.#handedDown.has(id)) return undefined;
    for (const [child, { report }] of this.#children) {
      const all = [...(report?.approvals ?? []), ...(report?.questions ?? [])];
      if (all.some((pending) => pending.id === id)) return child;
    }
    return undefined;
  }

  /** A decision goes down: until something is heard of it, there is nothing to decide here. */
  handDown(child: string, decision: NestedDecision): void {
    this.#handedDown.set(decision.sent.id!, { ...decision, child });
    this.changes++;
  }

  /** Whether the decision of this id is on its way down. */
  isOnItsWay(id: string | undefined): boolean {
    return id !== undefined && this.#handedDown.has(id);
  }

  get ids(): string[] {
    return [...this.approvals, ...this.questions].map(({ id }) => id);
  }

  get approvals(): PendingApproval[] {
    return this.#waiting(({ approvals }) => approvals);
  }

  get questions(): PendingQuestion[] {
    return this.#waiting(({ questions }) => questions);
  }

  #waiting<T extends { id: string; workflowId?: string }>(of: (report: NestedReport) => readonly T[]): T[] {
    return [...this.#children].flatMap(([child, { report }]) => {
      const waiting = report ? of(report) : [];
      return waiting
        .filter(({ id }) => !this.#handedDown.has(id))
        .map((pending) => ({ ...pending, workflowId: pending.workflowId ?? child }));
    });
  }
}

/** A report small enough for a signal: arguments, long texts and then what comes last are left out. */
export function fitReport(report: NestedReport): NestedReport {
  let { approvals, questions } = report;
  if (size(approvals, questions) <= MAX_REPORT_BYTES) return report;
  approvals = approvals.map(({ input: _input, edit: _edit, prompt, ...rest }) => ({
    ...rest,
    prompt: clip(prompt, SHORT_CHARS),
  }));
  questions = questions.map(({ prompt, ...rest }) => ({ ...rest, prompt: clip(prompt, SHORT_CHARS) }));
  while (size(approvals, questions) > MAX_REPORT_BYTES) {
    const [most, others] =
      approvals.length > questions.length ? [approvals, questions] : [questions, approvals];
    most.splice(Math.ceil(most.length / 2));
    if (most.length + others.length === 0) break;
  }
  return { ...report, approvals, questions };
}

function size(...parts: unknown[]): number {
  return JSON.stringify(parts).length;
}
