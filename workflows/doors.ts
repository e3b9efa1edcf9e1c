/**
 * The doors of a run: what people, clients and other runs may say to it. A decision on what waits in a child goes down to
 * it, and what waits here is told to the parent, so that all can be seen and decided at the root.
 */
import * as wf from '@temporalio/workflow';
import type { Door, Nesting, NestedDecision, NestedOutcome } from '../src/protocol/advance.ts';
import { DECIDE_SIGNAL, NESTED_SIGNAL, NOTED } from '../src/protocol/names.ts';
import {
  answer,
  approve,
  decide,
  decisions,
  type DecisionReceipt,
  message,
  type PendingApproval,
  type PendingQuestion,
  type Refusal,
  reject,
  type SentDecision,
  sendMessage,
  waiting,
} from '../src/protocol/signals.ts';
import type { Approvals } from '../src/records/approvals.ts';
import type { Inbox } from '../src/records/inbox.ts';
import { fitReport, NestedWaits } from '../src/records/nested-waits.ts';
import { doorIn } from '../src/records/read-report.ts';
import { readDecision, whyUnfit } from '../src/records/refusals.ts';
import type { LoopLink } from './loop-link.ts';
import { handleSignal } from './raw-signals.ts';

export interface DoorsOptions {
  approvals: Approvals;
  inbox: Inbox;
  link: LoopLink;
  /** Where this run stands, if it is a child. */
  nesting: Nesting | undefined;
  /** Whether the present loop has asked for what has this key. */
  askedNow(key: string): boolean;
  /** What waits has changed. */
  changed(): void;
}

export class Doors {
  readonly #options: DoorsOptions;
  readonly #nested = new NestedWaits();
  readonly #here: Pick<Door, 'workflowId' | 'runId'>;
  /** What the parent is to be told of decisions that came from above. */
  #outcomes: NestedOutcome[] = [];
  /** Updates that wait for what becomes of their decision below, by their door. */
  readonly #awaited = new Map<string, (outcome: NestedOutcome) => void>();
  /** What the parent knows to wait here, and whether it is to be told. */
  #told = '';
  #mustTell = false;
  #telling = false;

  constructor(options: DoorsOptions) {
    this.#options = options;
    const { workflowId, runId } = wf.workflowInfo();
    this.#here = { workflowId, runId };
  }

  /** What came before is handled at once. */
  open(): void {
    for (const { name } of [approve, reject, answer]) {
      let nth = 0;
      handleSignal(name, (payload) =>
        this.#onSignal(name, payload, { ...this.#here, signal: name, nth: ++nth }),
      );
    }
    handleSignal(message.name, (payload) => this.#onMessage(payload));
    handleSignal(DECIDE_SIGNAL, (payload) => this.#onDecisionFromAbove(payload));
    handleSignal(NESTED_SIGNAL, (payload) => {
      for (const outcome of this.#nested.report(payload)) this.#heard(outcome);
      this.#options.changed();
    });
    wf.setHandler(decide, (input) => this.#onDecide(input), {
      validator: (input) => {
        const refusal = this.#whyNot(input);
        if (refusal) throw failureOf(refusal);
      },
    });
    wf.setHandler(sendMessage, (given) => this.#onSendMessage(given), {
      validator: (given) => this.#assertMessage(given),
    });
    wf.setHandler(decisions, () => this.#options.approvals.decisions());
    wf.setHandler(waiting, () => ({
      approvals: this.approvals,
      questions: this.questions,
      refused: this.#options.approvals.refused,
      ...(this.#options.inbox.unread.length > 0 && { unread: this.#options.inbox.unread.length }),
    }));
    if (this.#options.nesting && wf.workflowInfo().parent) void this.#tellParent().catch(() => {});
  }

  /** What waits for a decision here and below. */
  get approvals(): PendingApproval[] {
    const { approvals, askedNow } = this.#options;
    return [...approvals.pending((key) => askedNow(key.split('?')[0]!)), ...this.#nested.approvals];
  }

  /** What waits for an answer here and below. */
  get questions(): PendingQuestion[] {
    const { approvals, askedNow } = this.#options;
    return [...approvals.questions(askedNow), ...this.#nested.questions];
  }

  childStarted(child: string, path: string): void {
    this.#nested.started(child, path);
  }

  childEnded(child: string): void {
    for (const { door, sent } of this.#nested.ended(child)) {
      const reason = `"${sent.id}" does not wait any more: the run in which it waited is over`;
      this.#heard({ door, workflowId: child, refusal: { code: 'closed', reason } });
    }
    this.#options.changed();
  }

  /** What waits has changed: a parent is told, if it is not what it knows. */
  noteChange(): void {
    if (!this.#options.nesting) return;
    if (this.#waitingNow() !== this.#told) this.#mustTell = true;
  }

  /** The parent has been told what became of the decisions that came from there. */
  get allTold(): boolean {
    return this.#outcomes.length === 0 && !this.#telling;
  }

  /** The run is over: what nobody has read, nobody will. */
  refuseUnread(): void {
    const { inbox, approvals } = this.#options;
    for (const { text } of inbox.unread) {
      const start = text.length > 80 ? `${text.slice(0, 80)}…` : text;
      approvals.refuse(message.name, `the run ended and nobody had read it: "${start}"`, Date.now());
    }
  }

  #onSignal(name: string, payload: unknown, door: Door): void {
    const sent = readDecision(name, payload);
    const below = !('code' in sent) && this.#isBelow(sent);
    const reason = below
      ? this.#take(sent, door)?.reason
      : this.#options.approvals.decide(name, payload, Date.now(), door, this.#idsBelow());
    if (reason !== undefined) this.#refuse(name, reason, !below);
    this.#options.changed();
  }

  #onMessage(payload: unknown): void {
    const reason = this.#options.inbox.add(payload, Date.now());
    if (reason !== undefined) this.#refuse(message.name, reason);
    this.#options.changed();
  }

  async #onSendMessage(given: unknown): Promise<{ at: number }> {
    await taskCompleted();
    this.#assertMessage(given);
    this.#onMessage(given);
    return { at: Date.now() };
  }

  #assertMessage(given: unknown): void {
    const reason = this.#options.inbox.whyNot(given);
    if (reason !== undefined) throw failureOf({ code: 'malformed', reason });
  }

  async #onDecide(input: unknown): Promise<DecisionReceipt> {
    await taskCompleted();
    const door: Door = { ...this.#here, updateId: wf.currentUpdateInfo()!.id };
    const sent = readDecision(decide.name, input) as SentDecision;
    const below = this.#nested.childOf(sent.id) !== undefined;
    const id = (below ? undefined : this.#options.approvals.idOf(sent)) ?? sent.id!;
    const heard = new Promise<NestedOutcome>((resolve) => {
      if (below) this.#awaited.set(JSON.stringify(door), resolve);
    });
    const refusal = this.#take(sent, door);
    if (refusal) throw failureOf(refusal);
    this.#options.changed();
    if (!below) return { id, workflowId: this.#here.workflowId };
    const outcome = await heard;
    await this.#options.link.mayAct();
    if (outcome.refusal) throw failureOf(outcome.refusal);
    return { id, workflowId: outcome.workflowId };
  }

  #onDecisionFromAbove(payload: unknown): void {
    const { door: from, sent: given } = (payload ?? {}) as Partial<NestedDecision>;
    const door = doorIn(from);
    const sent = readDecision(String(given?.how), given);
    if (!door || 'code' in sent) return;
    const { workflowId } = this.#here;
    const below = this.#nested.childOf(sent.id) !== undefined;
    const refusal = this.#take(sent, door);
    if (refusal) this.#outcomes.push({ door, workflowId, refusal });
    else if (!below) this.#outcomes.push({ door, workflowId });
    if (this.#outcomes.length > 0) this.#mustTell = true;
    this.#options.changed();
  }

  /** Whether it is about what waits in a child, or did. */
  #isBelow({ id }: SentDecision): boolean {
    return this.#nested.childOf(id) !== undefined || this.#nested.onItsWay(id) !== undefined;
  }

  /** Takes a decision, or hands it down. */
  #take(sent: SentDecision, door: Door): Refusal | undefined {
    const refusal = this.#whyNotTaken(sent);
    if (refusal) return refusal;
    const child = this.#nested.childOf(sent.id);
    if (child === undefined) return this.#options.approvals.take(sent, Date.now(), door, this.#idsBelow());
    this.#nested.handDown(child, { door, sent });
    void this.#handDown(child, { door, sent });
    return undefined;
  }

  #whyNot(input: unknown): Refusal | undefined {
    const sent = readDecision(decide.name, input);
    return 'code' in sent ? this.#withIds(sent) : this.#whyNotTaken(sent);
  }

  #whyNotTaken(sent: SentDecision): Refusal | undefined {
    if (this.#nested.onItsWay(sent.id))
      return { code: 'already-decided', reason: `"${sent.id}" was decided here, and is on its way` };
    if (this.#nested.childOf(sent.id) === undefined)
      return this.#options.approvals.whyNot(sent, this.#idsBelow());
    const pending = this.#nested.find(sent.id!)!;
    const asked = 'schema' in pending ? { id: pending.id, answer: pending.schema } : pending;
    return whyUnfit(asked, sent);
  }

  async #handDown(child: string, decision: NestedDecision): Promise<void> {
    await this.#options.link.mayAct();
    try {
      await wf.getExternalWorkflowHandle(child).signal(DECIDE_SIGNAL, decision);
    } catch {
      // It is over, of which its end tells.
    }
  }

  /** What became of a decision: of one that came to this run, or to one above. */
  #heard(outcome: NestedOutcome): void {
    const { door, refusal } = outcome;
    if (door.workflowId !== this.#here.workflowId) {
      this.#outcomes.push(outcome);
      this.#mustTell = true;
      return;
    }
    const resolve = this.#awaited.get(JSON.stringify(door));
    this.#awaited.delete(JSON.stringify(door));
    if (resolve) resolve(outcome);
    else if (refusal && door.signal !== undefined) this.#refuse(door.signal, refusal.reason);
  }

  /** Tells the parent what waits here and below, whenever that changes. */
  async #tellParent(): Promise<void> {
    const parent = wf.getExternalWorkflowHandle(wf.workflowInfo().parent!.workflowId);
    for (;;) {
      await wf.condition(() => this.#mustTell);
      this.#telling = true;
      await this.#options.link.mayAct();
      const { approvals, questions } = this;
      this.#mustTell = false;
      this.#told = this.#waitingNow();
      const outcomes = this.#outcomes.splice(0);
      const report = fitReport({ child: this.#here.workflowId, approvals, questions, outcomes });
      await parent.signal(NESTED_SIGNAL, report).finally(() => (this.#telling = false));
    }
  }

  #waitingNow(): string {
    return [...this.approvals, ...this.questions]
      .map(({ id, audience = '', expiresAt = '' }) => `${id} ${expiresAt} ${audience}`)
      .join('\n');
  }

  #idsBelow(): string[] {
    return [...this.#nested.approvals, ...this.#nested.questions].map(({ id }) => id);
  }

  #withIds(refusal: Refusal): Refusal {
    return this.#options.approvals.withIds(refusal, this.#idsBelow());
  }

  #refuse(name: string, reason: string, kept = false): void {
    if (!kept) this.#options.approvals.refuse(name, reason, Date.now());
    wf.log.warn(`Signal ${name} refused: ${reason}`);
  }
}

/**
 * An update that was accepted in a task that then fails is gone, other than a signal: what the loop would have been told of
 * it never was. So nothing follows from an update before its task is completed.
 */
async function taskCompleted(): Promise<void> {
  // A timer would take a second on a server with one shard.
  const summary = 'what was sent is in the history';
  await wf.scheduleActivity(NOTED, [], { startToCloseTimeout: '10 seconds', summary });
}

function failureOf({ code, reason }: Refusal): wf.ApplicationFailure {
  return wf.ApplicationFailure.create({
    type: 'DecisionRefusedError',
    message: reason,
    nonRetryable: true,
    details: [{ code }],
  });
}
