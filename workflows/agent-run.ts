/**
 * The one workflow: a generic driver that does not change when a user's agent does. It owns the answers; the loop in
 * some worker process asks for them. Every decision that can be made without Temporal is in `src/records`.
 */
import * as wf from '@temporalio/workflow';
import type { Advance, LoopEnd, Nesting, RunCarry, RunOrigin, RunRead } from '../src/protocol/advance.ts';
import {
  DRAIN_AT_EVENTS,
  MAX_BATCH_BYTES,
  MAX_CARRY_BYTES,
  MAX_HISTORY_BYTES,
  MAX_HISTORY_EVENTS,
  MAX_STORED_CARRY_BYTES,
} from '../src/protocol/limits.ts';
import { BUDGET_KEY, CARRY_QUERY } from '../src/protocol/names.ts';
import { records as recordsQuery, report as reportQuery } from '../src/protocol/signals.ts';
import type { StepFailure } from '../src/protocol/step.ts';
import { Approvals } from '../src/records/approvals.ts';
import { Inbox } from '../src/records/inbox.ts';
import { agentBackoff, isWatched } from '../src/records/outcomes.ts';
import { runDetails } from '../src/records/run-details.ts';
import { jsonBytes, largestRecord, RunRecords } from '../src/records/run-records.ts';
import { RunSpending } from '../src/records/run-spending.ts';
import { Doors } from './doors.ts';
import { applicationFailure } from './failures.ts';
import { LoopLink } from './loop-link.ts';
import { reportOf } from './report.ts';
import { startOf, wellFormed } from './start-of-run.ts';
import { Steps, waitsLong } from './steps.ts';
import { RunBudget } from './run-budget.ts';
import type { StepContext } from './step-context.ts';

const CANCEL_GRACE = '10 seconds';
/** How long a run that is over waits until its parent knows what became of decisions. */
const TELL_GRACE = '10 seconds';
/** How long a run that is over waits for tools that may have an effect, so that a resumed run has their records. */
const EFFECTS_GRACE = '2 minutes';

/**
 * Runs the agent whose name is the workflow's type.
 * @param input what the agent's function gets
 * @param from set by the run itself when it continues as new, by `resume`, by `fork`, and by the run whose child it is
 */
export async function agentRun(input?: unknown, from?: RunCarry | RunOrigin): Promise<unknown> {
  const [given, carry] = await startOf(input, from?.version === 1 ? wellFormed(from) : undefined);
  const run = new AgentRun(given, carry);
  return await wf.CancellationScope.nonCancellable(() => run.drive());
}

class AgentRun {
  readonly #agent = wf.workflowInfo().workflowType;
  readonly #input: unknown;
  readonly #records: RunRecords;
  /** Records that came from the run before. */
  readonly #carried: number;
  readonly #approvals: Approvals;
  readonly #inbox: Inbox;
  readonly #doors: Doors;
  readonly #spending: RunSpending;
  readonly #budget: RunBudget;
  /** Where it stands, if it is a child. */
  readonly #nesting: Nesting | undefined;
  readonly #context: StepContext;
  readonly #link: LoopLink;
  readonly #steps: Steps;
  #agentFailures: number;
  /** Of a fork: so many records stand whatever its code asks. */
  readonly #pinned: number | undefined;
  #tooLarge: StepFailure | undefined;
  /** Whether the run was settled when it asked for the answer that it acts on. */
  #wasSettled = false;
  /** The history is so long that nothing new is started until the run can go on as a new one. */
  #draining = false;
  /** With what it ended. */
  #failure: StepFailure | undefined;
  /** Everything a cancel of the run reaches. */
  readonly #body = new wf.CancellationScope({ cancellable: true });

  constructor(input: unknown, carry: Partial<RunCarry> | undefined) {
    const records = new RunRecords(carry?.records);
    const body = this.#body;
    const chain = carry?.chain ?? wf.workflowInfo().firstExecutionRunId;
    const inbox = new Inbox(carry?.inbox);
    const nesting = carry?.nesting;
    const { idempotencyKey } = nesting ?? {};
    const link = new LoopLink({ agent: this.#agent, chain, input, records, inbox, idempotencyKey, body });
    this.#input = input;
    this.#records = records;
    this.#carried = records.size;
    this.#approvals = new Approvals(carry?.approvals, nesting?.path);
    this.#inbox = inbox;
    this.#nesting = nesting;
    const spending = new RunSpending(records, carry);
    this.#spending = spending;
    this.#budget = new RunBudget({
      link,
      approvals: this.#approvals,
      records,
      paidBefore: spending.paidBefore,
      allowance: nesting?.allowance,
      carry: carry?.budget,
      askedNow: (key) => this.#steps.askedNow(key),
      changed: () => this.#describe(),
    });
    this.#doors = new Doors({
      approvals: this.#approvals,
      inbox,
      link,
      spending,
      budget: this.#budget,
      nesting,
      askedNow: (key) => key === BUDGET_KEY || this.#steps.askedNow(key),
      changed: () => this.#describe(),
    });
    this.#agentFailures = carry?.agentFailures ?? 0;
    this.#link = link;
    this.#context = {
      chain,
      link,
      askedNow: (key) => this.#steps.askedNow(key),
      approvals: this.#approvals,
      inbox,
      nested: this.#doors.nested,
      budget: this.#budget,
      labels: new Map(carry?.labels),
      describe: () => this.#describe(),
      losses: new Map(carry?.losses),
      sleeps: new Map(carry?.sleeps),
      underWay: new Set(carry?.underWay),
      started: new Set(),
      reopened: new Set(carry?.reopened),
      asksEffects: carry?.asksEffects === true,
    };
    this.#steps = new Steps({ records, context: this.#context, body, carry });
    this.#pinned = carry?.pinned;
    this.#doors.open();
    wf.setHandler(wf.defineQuery(CARRY_QUERY), (): RunRead => ({ input, carry: this.#carry() }));
    wf.setHandler(recordsQuery, () => records.list);
    const reported = { records, approvals: this.#approvals, doors: this.#doors, spending };
    wf.setHandler(reportQuery, (page) => reportOf({ ...reported, steps: this.#steps }, page));
    wf.CancellationScope.current().cancelRequested.catch(() => {
      link.cancelling = true;
    });
  }

  async drive(): Promise<unknown> {
    for (;;) {
      const got = await this.#advance();
      if (!got) continue;
      this.#failNearTheLimit();
      const isFull = this.#isFull(got);
      if (isFull && this.#wasSettled) await this.#continueAsNew();
      this.#draining = isFull && !this.#tooLarge && wf.workflowInfo().historyLength > DRAIN_AT_EVENTS;
      this.#steps.dispatch(got.steps ?? [], this.#draining);
      if (got.end) {
        if (await this.#restarts(got.end)) continue;
        return await this.#finish(got.end);
      }
      if (!got.noted) this.#link.quiet = false;
      if (this.#wasSettled && (got.steps ?? []).every(waitsLong)) this.#budget.giveBack();
      this.#describe();
      // A poke and an answer that come together are two answers of the loop in one task; so large a step needs its own.
      if (got.steps?.length === 1 && jsonBytes(got.steps) > MAX_BATCH_BYTES) await wf.sleep(1);
      await this.#untilDue();
    }
  }

  /** An answer of the loop. `undefined`: ask again, or that loop is gone and another must be built. */
  async #advance(): Promise<Advance | undefined> {
    const { size: inFlight, open, divergedAt } = this.#steps;
    const { maxOutputTokens } = this.#budget;
    const ahead = this.#link.takeAhead();
    const settled = this.#isSettled();
    const { news: facts } = this.#doors.attributes;
    const pinned = this.#pinned;
    const state = { inFlight, open, divergedAt, pinned, maxOutputTokens, settled, facts };
    const got = ahead ?? (await this.#link.advance(state));
    this.#doors.attributes.note(ahead ? facts : got.took?.facts);
    // As the answer has it, not as it is by now: a replay may know of events that came meanwhile before it, or after it.
    // Histories of before it was asked have none.
    const guess = () => this.#records.size === this.#link.from && this.#steps.onlyWait();
    this.#wasSettled = ahead ? settled : (got.took?.settled ?? guess());
    if (got.crowded) this.#steps.crowded();
    if (got.again || got.lost !== undefined) return undefined;
    if (got.built) {
      this.#steps.forgetAsked();
      const { ms = 0 } = got.built;
      this.#spending.replayed(got.took?.records ?? 0, ms);
    }
    this.#steps.note(got);
    return got;
  }

  async #untilDue(): Promise<void> {
    const link = this.#link;
    const due = () => link.isDue() || this.#doors.attributes.isDue || (this.#draining && this.#isSettled());
    if (link.cancelSent) {
      const more = await wf.condition(due, CANCEL_GRACE);
      if (more || this.#steps.size > 0) return;
      this.#link.grantAll();
      await this.#budget.settled();
      this.#doors.close();
      if (!this.#doors.allSaid) await wf.condition(() => this.#doors.allSaid, TELL_GRACE);
      throw new wf.CancelledFailure('The run was cancelled.');
    }
    const unwatched = () =>
      !link.cancelling &&
      !isWatched({ inFlight: this.#steps.kinds(), watching: link.watching, quiet: link.quiet });
    const watch = () => link.watch(this.#steps.size > 0 ? (link.settings.watchForMs ?? 5_000) : 0);
    if (unwatched()) watch();
    await link.letAct();
    while (!due()) {
      await wf.condition(() => due() || unwatched());
      if (!due()) watch();
    }
  }

  /** The agent's function threw: it is started again, from its records, as often as it may. */
  async #restarts(end: LoopEnd): Promise<boolean> {
    const link = this.#link;
    if (!end.failure || end.final || link.cancelling) return false;
    if (this.#agentFailures >= (this.#nesting?.retries ?? link.settings.agentRetries ?? 2)) return false;
    this.#agentFailures++;
    wf.log.warn(`Agent ${this.#agent} failed and is started again: ${end.failure.message}`);
    await wf.condition(() => link.cancelling, agentBackoff(this.#agentFailures));
    link.lose();
    return true;
  }

  async #finish(end: LoopEnd): Promise<unknown> {
    this.#failure = end.failure;
    const mustEnd = this.#steps.withdraw(end.failure ? 'failure' : 'success');
    this.#link.grantAll();
    await this.#budget.settled();
    this.#doors.close();
    this.#describe();
    await wf.condition(() => this.#doors.allSaid, TELL_GRACE);
    const grace = this.#link.cancelling ? CANCEL_GRACE : EFFECTS_GRACE;
    await wf.condition(() => !mustEnd.some((key) => this.#steps.has(key)), grace);
    if (mustEnd.length > 0) this.#doors.attributes.end(true);
    await this.#traceArrived();
    if (this.#link.cancelling) throw new wf.CancelledFailure('The run was cancelled.');
    if (end.failure) throw applicationFailure(end.failure);
    return end.output;
  }

  /** There is so much in the history that the run should go on as a new one. */
  #isFull(got: Advance): boolean {
    if (got.end || this.#link.cancelling || this.#tooLarge) return false;
    const info = wf.workflowInfo();
    const limit = this.#link.settings.continueAfterRecords;
    return (
      info.continueAsNewSuggested || (limit !== undefined && this.#records.size - this.#carried >= limit)
    );
  }

  /** Nothing is in flight but what can be asked again, and nobody waits to hear something. */
  #isSettled(): boolean {
    return this.#steps.onlyWait() && this.#doors.allSaid && !this.#link.wantsMore;
  }

  /** The steps just handed out are asked again by the next run's loop. Returns if the records are too large for that. */
  async #continueAsNew(): Promise<void> {
    await this.#traceArrived();
    const carry = this.#carry();
    const bytes = jsonBytes(carry);
    const limit = this.#link.settings.storesPayloads ? MAX_STORED_CARRY_BYTES : MAX_CARRY_BYTES;
    if (bytes > limit) return this.#tooLargeToContinue(bytes, limit);
    this.#doors.attributes.handOver();
    await this.#link.leave();
    this.#body.cancel();
    await wf.continueAsNew<typeof agentRun>(this.#input, carry);
  }

  /** What the next run of the chain starts with, or one that goes on from this one. */
  #carry(): RunCarry {
    const { chain, losses, sleeps, reopened, asksEffects, labels } = this.#context;
    const inbox = this.#inbox.unread;
    const { open, divergedAt } = this.#steps;
    const underWay = [...this.#context.underWay, ...this.#context.started];
    return {
      version: 1,
      records: this.#records.list,
      chain,
      approvals: this.#approvals.carry(),
      losses: [...losses],
      sleeps: [...sleeps],
      open,
      agentFailures: this.#agentFailures,
      ...(divergedAt !== undefined && { divergedAt }),
      ...(this.#pinned !== undefined && { pinned: this.#pinned }),
      ...(underWay.length > 0 && { underWay }),
      ...(reopened.size > 0 && { reopened: [...reopened] }),
      ...(asksEffects && { asksEffects }),
      ...(this.#nesting && { nesting: this.#nesting }),
      ...(labels.size > 0 && { labels: [...labels] }),
      ...(inbox.length > 0 && { inbox }),
      ...this.#spending.carry(),
      ...this.#budget.carry(),
      ...(this.#failure && { failure: this.#failure }),
    };
  }

  /** A task that ends the run is refused while a signal is on its way, and each attempt would leave another trace. */
  async #traceArrived(): Promise<void> {
    await wf.condition(() => !this.#link.awaitsTrace());
  }

  #tooLargeToContinue(bytes: number, limit: number): void {
    const largest = largestRecord(this.#records.list);
    const named =
      largest && `; the largest is ${largest.record.kind} ${largest.record.name} with ${largest.bytes} bytes`;
    const message = `Cannot continue as new: the records have ${bytes} bytes, the limit is ${limit}${named ?? ''}.${limit === MAX_CARRY_BYTES ? ' With a blob store it is higher: give "blobs" to AgentsPlugin.' : ''}`;
    this.#tooLarge = { name: 'RecordsTooLargeError', message };
    wf.log.warn(`${message} The run goes on in its present history and fails when that is full.`);
  }

  #failNearTheLimit(): void {
    if (!this.#tooLarge) return;
    const { historyLength, historySize } = wf.workflowInfo();
    const full = historyLength > MAX_HISTORY_EVENTS || historySize > MAX_HISTORY_BYTES;
    if (full) throw applicationFailure(this.#tooLarge);
  }

  #describe(): void {
    const { approvals, questions } = this.#doors;
    this.#doors.nested.noteChange({ approvals, questions });
    const { namespace, workflowId } = wf.workflowInfo();
    wf.setCurrentDetails(
      runDetails({
        records: this.#records.list,
        counts: this.#spending.counts,
        inFlight: this.#steps.list(),
        approvals,
        questions,
        refused: this.#approvals.refused,
        unread: this.#inbox.unread.length,
        usage: this.#doors.spent,
        timesReplayed: (no) => this.#spending.timesReplayed(no),
        namespace,
        workflowId,
      }),
    );
  }
}
