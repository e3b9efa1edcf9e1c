/** The doors of a run: what people, clients and other runs may say to it, and what it says waits. */
import * as wf from '@temporalio/workflow';
import type { Door, Nesting, NestedDecision } from '../src/protocol/advance.ts';
import { NOTED } from '../src/protocol/names.ts';
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
  type TakenDecision,
  messageUpdate,
  usage,
  type Waiting,
  waiting,
} from '../src/protocol/signals.ts';
import type { Approvals } from '../src/records/approvals.ts';
import type { Inbox } from '../src/records/inbox.ts';
import { doorIn } from '../src/records/read-report.ts';
import { clip, readDecision } from '../src/records/refusals.ts';
import type { RunSpending } from '../src/records/run-spending.ts';
import type { RunUsage } from '../src/protocol/usage.ts';
import { applicationFailure } from './failures.ts';
import type { LoopLink } from './loop-link.ts';
import { NestedRuns, shielded } from './nested-runs.ts';
import { handleSignal } from './raw-signals.ts';
import type { RunBudget } from './run-budget.ts';
import { SearchAttributes } from './search-attributes.ts';

export interface DoorsOptions {
  approvals: Approvals;
  inbox: Inbox;
  link: LoopLink;
  spending: RunSpending;
  budget: RunBudget;
  /** Where this run stands, if it is a child. */
  nesting: Nesting | undefined;
  /** Whether the present loop has asked for what has this key. */
  askedNow: (key: string) => boolean;
  /** What waits has changed. */
  changed: () => void;
}

export class Doors {
  readonly nested: NestedRuns;
  readonly attributes: SearchAttributes;
  readonly #options: DoorsOptions;
  readonly #here: Pick<Door, 'workflowId' | 'runId'>;

  constructor(options: DoorsOptions) {
    this.#options = options;
    const { workflowId, runId } = wf.workflowInfo();
    this.#here = { workflowId, runId };
    const { link, nesting, changed, spending, budget, approvals } = options;
    const waits = () => ({ approvals: this.approvals, questions: this.questions });
    this.nested = new NestedRuns({
      link,
      spending,
      budget,
      nesting,
      here: this.#here,
      waiting: waits,
      changed,
      refused: (signal, reason) => this.#refuse(signal, reason),
    });
    this.attributes = new SearchAttributes({
      link,
      spending,
      waiting: waits,
      changes: () => approvals.changes + this.nested.waits.changes,
    });
  }

  /** What came before is handled at once: rejections first, since the first decision stands. */
  open(): void {
    const { inbox, changed } = this.#options;
    for (const { name } of [reject, approve, answer]) {
      let nth = 0;
      handleSignal(name, (payload) =>
        this.#onSignal(name, payload, { ...this.#here, signal: name, nth: ++nth }),
      );
    }
    handleSignal(message.name, (payload) => {
      const reason = inbox.add(payload, Date.now());
      if (reason !== undefined) this.#refuse(message.name, reason);
      changed();
    });
    this.nested.open((payload) => this.#onDecisionFromAbove(payload));
    wf.setHandler(decide, (input) => shielded(() => this.#onDecide(input)), {
      validator: (input) => {
        const sent = readDecision(decide.name, input);
        const refusal = 'code' in sent ? this.#withIds(sent) : this.#whyNot(sent);
        if (refusal) throw refusedFailure(refusal);
      },
    });
    wf.setHandler(messageUpdate, (given) => shielded(() => this.#onSendMessage(given)), {
      validator: (given) => {
        const reason = inbox.whyNot(given);
        if (reason !== undefined) throw refusedFailure({ code: 'malformed', reason });
      },
    });
    wf.setHandler(decisions, () => this.decisions);
    wf.setHandler(usage, () => this.spent);
    wf.setHandler(waiting, () => this.waiting);
  }

  get decisions(): TakenDecision[] {
    return this.#options.approvals.decisions();
  }

  /** What the run and those below it have spent, and what they may. */
  get spent(): RunUsage {
    const { spending, link, budget } = this.#options;
    const { state } = budget;
    return { ...spending.usage(link.settings.priceTable), ...(state && { budget: state }) };
  }

  /** What the run waits for, and what it refused. */
  get waiting(): Waiting {
    const { inbox, approvals } = this.#options;
    return {
      approvals: this.approvals,
      questions: this.questions,
      refused: approvals.refused,
      ...(inbox.unread.length > 0 && { unread: inbox.unread.length }),
    };
  }

  /** What waits for a decision here and below. */
  get approvals(): PendingApproval[] {
    const own = this.#options.approvals.pending((key) => this.#options.askedNow(key.split('?')[0]!));
    return [...own, ...this.nested.waits.approvals];
  }

  /** What waits for an answer here and below. */
  get questions(): PendingQuestion[] {
    const own = this.#options.approvals.questions((key) => this.#options.askedNow(key));
    return [...own, ...this.nested.waits.questions];
  }

  /** Nobody waits to hear something: neither the parent, nor whoever sent an update. */
  get allSaid(): boolean {
    return this.nested.allTold && wf.allHandlersFinished();
  }

  /** The run is over: what nobody has read, nobody will. */
  close(): void {
    this.nested.noteEnd();
    this.attributes.end();
    for (const { text } of this.#options.inbox.close())
      this.#refuse(message.name, `the run ended and nobody had read it: "${clip(text)}"`);
  }

  #onSignal(name: string, payload: unknown, door: Door): void {
    const sent = readDecision(name, payload);
    const taken = 'code' in sent ? this.#withIds(sent) : this.#take(sent, door);
    if ('code' in taken) this.#refuse(name, taken.reason);
    this.#options.changed();
  }

  async #onSendMessage(given: unknown): Promise<{ at: number }> {
    await this.#taskCompleted();
    const at = Date.now();
    const reason = this.#options.inbox.add(given, at);
    this.#options.changed();
    await this.#options.link.mayAct();
    if (reason !== undefined) throw refusedFailure({ code: 'closed', reason });
    return { at };
  }

  async #onDecide(input: unknown): Promise<DecisionReceipt> {
    await this.#taskCompleted();
    const door: Door = { ...this.#here, updateId: wf.currentUpdateInfo()!.id };
    const sent = readDecision(decide.name, input);
    const taken = 'code' in sent ? sent : this.#take(sent, door);
    this.#options.changed();
    const below = 'below' in taken ? await this.nested.outcomeOf(door) : undefined;
    await this.#options.link.mayAct();
    if ('code' in taken) throw refusedFailure(taken);
    if (below?.refusal) throw refusedFailure(below.refusal);
    return { id: taken.id, workflowId: (below ?? this.#here).workflowId };
  }

  /**
   * An update that was accepted in a task that then fails is gone, other than a signal: what the loop would have been told
   * of it never was. So nothing follows from an update before its task is completed.
   */
  async #taskCompleted(): Promise<void> {
    await this.#options.link.mayAct();
    // A timer would take a second on a server with one shard.
    const summary = 'what was sent is in the history';
    await wf.scheduleActivity(NOTED, [], { startToCloseTimeout: '10 seconds', summary });
  }

  #onDecisionFromAbove(payload: unknown): void {
    const { door: from, sent: given } = (payload ?? {}) as Partial<NestedDecision>;
    const door = doorIn(from);
    const how: unknown = given?.how;
    const sent = readDecision(typeof how === 'string' ? how : '', given);
    if (!door || 'code' in sent) return;
    const { workflowId } = this.#here;
    const taken = this.#take(sent, door);
    if ('code' in taken) this.nested.tellOutcome({ door, workflowId, refusal: taken });
    else if (!taken.below) this.nested.tellOutcome({ door, workflowId });
    this.#options.changed();
  }

  /** Takes a decision, or hands it down to the child in which it waits, or below which. */
  #take(sent: SentDecision, door: Door): { id: string; below?: true } | Refusal {
    const { waits } = this.nested;
    const child = waits.childOf(sent.id);
    if (child === undefined)
      return this.#onItsWay(sent) ?? this.#options.approvals.take(sent, Date.now(), door, waits.ids);
    this.nested.handDown(child, { door, sent });
    return { id: sent.id!, below: true };
  }

  /** Why a decision would be refused; what is below is judged there. */
  #whyNot(sent: SentDecision): Refusal | undefined {
    const { waits } = this.nested;
    if (waits.childOf(sent.id) !== undefined) return undefined;
    return this.#onItsWay(sent) ?? this.#options.approvals.whyNot(sent, waits.ids);
  }

  #onItsWay({ id }: SentDecision): Refusal | undefined {
    if (!this.nested.waits.isOnItsWay(id)) return undefined;
    return { code: 'already-decided', reason: `"${id}" was decided here, and is on its way` };
  }

  #withIds(refusal: Refusal): Refusal {
    return this.#options.approvals.withIds(refusal, this.nested.waits.ids);
  }

  #refuse(name: string, reason: string): void {
    this.#options.approvals.refuse(name, reason, Date.now());
    wf.log.warn(`Signal ${name} refused: ${reason}`);
  }
}

function refusedFailure({ code, reason }: Refusal): wf.ApplicationFailure {
  return applicationFailure({ name: 'DecisionRefusedError', message: reason, code });
}
