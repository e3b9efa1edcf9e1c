/** The run's end of the line to its loop: which loop it knows, where that lives, and what it has been told. */
import * as wf from '@temporalio/workflow';
import type { Advance, AdvanceInput, Ahead, RunSettings } from '../src/protocol/advance.ts';
import { ADVANCE, AWAIT_LOOP, BUILD_SIGNAL, LOCAL_INPUT, POKE_SIGNAL } from '../src/protocol/names.ts';
import type { RunFacts } from '../src/protocol/search-attributes.ts';
import type { RunRecords } from '../src/records/run-records.ts';
import { activityOutcome } from './failures.ts';

const { [ADVANCE]: advance } = wf.proxyLocalActivities<
  Record<typeof ADVANCE, (input: AdvanceInput) => Promise<Advance>>
>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '5s' },
});

const DEFAULT_HEARTBEAT = '10 seconds';

export interface LoopLinkOptions {
  agent: string;
  /** First run id of the chain. */
  chain: string;
  input: unknown;
  records: RunRecords;
  inbox: { readonly count: number };
  /** Of the call that this run is, if it is a tool's. */
  idempotencyKey: string | undefined;
  /** Everything a cancel of the run reaches. */
  body: wf.CancellationScope;
}

/** What a loop must know to be built, and how much is in flight. */
export interface LinkState {
  inFlight: number;
  open: readonly [string, boolean][];
  divergedAt: number | undefined;
  pinned: number | undefined;
  maxOutputTokens: AdvanceInput['maxOutputTokens'];
  settled: boolean;
  /** What the run can be found by, if that has changed. */
  facts: RunFacts | undefined;
}

export class LoopLink {
  readonly #options: LoopLinkOptions;
  epoch: string | undefined;
  host = '';
  settings: RunSettings = {};
  /** How many records the loop has had, and the last step number taken from it. */
  from = 0;
  #seen = 0;
  /** The loop whose host is known to be gone. */
  #lostEpoch: string | undefined;
  /** Processes that died, one after the other, while the loop's own code ran and asked nothing. */
  #deaths = 0;
  #agains = 0;
  /** How often something asked to act on what came, and how much of that was granted; see `mayAct`. */
  #actsAsked = 0;
  #actsGranted = 0;
  /** What is waited for that an answer may bring. */
  readonly #waits = new Set<() => boolean>();
  /** Signals of the loop, and how many of them it was answered. */
  #pokes = 0;
  #pokesTaken = 0;
  /** Loops that left a trace of their build before the run knew them, and the one whose trace is on its way. */
  readonly #traced = new Set<string>();
  #awaitsTrace: string | undefined;
  /** What the loop asked along with the answer to a step. */
  #ahead: (Ahead & { key: string }) | undefined;
  /** How many messages the last answer of the loop took account of. */
  messagesTaken = 0;
  /** An answer of the loop is under way. */
  #advancing = false;
  cancelling = false;
  cancelSent = false;
  watching = false;
  /** The loop was quiet beside a long wait: the answer to that wait will tell whether it lives. */
  quiet = false;

  constructor(options: LoopLinkOptions) {
    this.#options = options;
    wf.setHandler(wf.defineSignal<[string]>(POKE_SIGNAL), (epoch) => {
      if (epoch === this.epoch) this.#pokes++;
    });
    wf.setHandler(wf.defineSignal<[string, 'survived'?]>(BUILD_SIGNAL), (epoch, survived) => {
      if (survived) return this.#survived();
      if (epoch === this.#awaitsTrace) this.#awaitsTrace = undefined;
      if (epoch === this.epoch) return;
      this.#traced.add(epoch);
      this.#deaths++;
    });
  }

  /** After how long without a sign of life a process counts as dead. */
  get heartbeatTimeout(): NonNullable<RunSettings['heartbeatTimeout']> {
    return this.settings.heartbeatTimeout ?? DEFAULT_HEARTBEAT;
  }

  /** A loop is there, but its host is known to be gone. */
  isLost(): boolean {
    return this.epoch !== undefined && this.#lostEpoch === this.epoch;
  }

  /** The host of a loop is gone. */
  lose(epoch: string | undefined = this.epoch): void {
    this.#lostEpoch = epoch;
  }

  /** There is something to tell the loop, or to ask it. */
  isDue(): boolean {
    return this.#options.records.size > this.from || this.#mustAsk() || (this.cancelling && !this.cancelSent);
  }

  /** There is something that only `advance` can settle, whatever was answered. */
  #mustAsk(): boolean {
    return this.#pokes > this.#pokesTaken || this.wantsMore || this.isLost();
  }

  /** The trace of a build is on its way, as a signal. */
  awaitsTrace(): boolean {
    return this.#awaitsTrace !== undefined;
  }

  /** Something waits for leave to act on what came. */
  get wantsMore(): boolean {
    return this.#actsAsked > this.#actsGranted;
  }

  wantsToAct(): number {
    return ++this.#actsAsked;
  }

  /**
   * Waits until the run may act on what came. What comes to a workflow only changes its state; commands follow from an
   * answer of the loop. So it does not matter in which order, and in how many activations, events came.
   */
  async mayAct(): Promise<void> {
    const ask = this.wantsToAct();
    await this.until(() => this.mayActOn(ask));
  }

  /** Waits for what an answer of the loop may bring; see `letAct`. */
  async until(isSo: () => boolean): Promise<void> {
    this.#waits.add(isSo);
    try {
      await wf.condition(isSo);
    } finally {
      this.#waits.delete(isSo);
    }
  }

  /**
   * Lets all that the last answer allowed be done, before anything else is asked. What came along with the answer is told
   * of before it in a replay, or after it, and decides whether there is anything to ask.
   */
  async letAct(): Promise<void> {
    const mayOne = () => [...this.#waits].some((isSo) => isSo());
    if (mayOne()) await wf.condition(() => !mayOne());
  }

  /** Whether an answer of the loop took account of this ask. */
  mayActOn(ask: number): boolean {
    return this.#actsGranted >= ask;
  }

  /** The run is over: whatever still wants to act may. */
  grantAll(): void {
    this.#actsGranted = Infinity;
  }

  /**
   * Gives the loop everything answered so far, or builds one. Events may come while this waits; what follows goes by what
   * the answer took account of (`took`), not by what is known when it comes, so that a replay, which may know of them
   * before, does the same.
   */
  async advance(state: LinkState): Promise<Advance> {
    const { inFlight, open, divergedAt, pinned, maxOutputTokens, settled, facts } = state;
    const builds = this.epoch === undefined || this.isLost();
    const from = builds ? 0 : this.from;
    const { agent, chain, input, records, inbox, idempotencyKey } = this.#options;
    this.#advancing = true;
    const answer = advance({
      [LOCAL_INPUT]: 1,
      agent,
      input,
      from,
      records: records.since(from),
      seen: builds ? 0 : this.#seen,
      inFlight,
      pokes: this.#pokes,
      acts: this.wantsMore ? this.#actsAsked : 0,
      ...(inbox.count > 0 && { messages: inbox.count }),
      settled,
      ...(facts && { facts, ...(!builds && !this.isDue() && { noteFacts: true as const }) }),
      ...this.#task(),
      ...(builds
        ? {
            chain,
            ...(idempotencyKey !== undefined && { idempotencyKey }),
            pending: open.map(([key]) => key),
            pendingChanged: open.filter(([, changed]) => changed).map(([key]) => key),
            ...(divergedAt !== undefined && { divergedAt }),
            ...(pinned !== undefined && { pinned }),
            ...(maxOutputTokens !== undefined && { maxOutputTokens }),
            ...(this.#deaths > 0 && { deaths: this.#deaths }),
          }
        : { epoch: this.epoch }),
      ...(this.cancelling && (builds || !this.cancelSent) && { cancel: true as const }),
    });
    const got = await answer.finally(() => (this.#advancing = false));
    // Fails this task, not the run: another worker may be able, as Temporal does for unknown workflow types. Core may have
    // recorded the answer nevertheless, with a task that it completed to answer a query: then another one is asked for.
    if (got.unable !== undefined) {
      if (wf.workflowInfo().unsafe.isReplaying) return { again: true };
      throw new Error(got.unable);
    }
    this.#agains = got.again ? this.#agains + 1 : 0;
    if (got.lost !== undefined) this.lose();
    if (got.built) this.#meet(got.built);
    if (got.lost === undefined && !got.again) this.#note(got);
    return got;
  }

  hearAhead(key: string, ahead: Ahead): void {
    this.#ahead = { key, ...ahead };
  }

  /**
   * What the loop asked along with the answer to a step, in place of `advance`: if the run knows of nothing else to tell
   * it. Otherwise that stays until it was told the other things.
   */
  takeAhead(): Advance | undefined {
    const { from } = this;
    const { records } = this.#options;
    const ahead = this.#ahead;
    if (!ahead || ahead.epoch !== this.epoch || ahead.next.took?.records !== from + 1) return undefined;
    if (records.size !== from + 1 || records.list[from]!.key !== ahead.key) return undefined;
    if (this.cancelling || this.#mustAsk()) return undefined;
    this.#ahead = undefined;
    this.#note(ahead.next);
    return ahead.next;
  }

  /** The run goes on as a new one: its loop is of no use here any more. */
  async leave(): Promise<void> {
    const { agent } = this.#options;
    const nothing = { from: 0, records: [], seen: 0, inFlight: 0, pokes: 0, acts: 0 };
    await advance({ [LOCAL_INPUT]: 1, agent, input: null, ...nothing, ...this.#task(), leave: true });
  }

  /** Lets the host hold a loop that is busy with its own work, so that the host's death is noticed. */
  watch(quietFor: number): void {
    this.watching = true;
    const { epoch } = this;
    const watched = this.#options.body.run(async () => {
      try {
        const result = await wf.scheduleActivity(AWAIT_LOOP, [epoch, this.#seen, quietFor], {
          taskQueue: this.host,
          startToCloseTimeout: '1 hour',
          heartbeatTimeout: this.heartbeatTimeout,
          scheduleToStartTimeout: '5s',
          retry: { maximumAttempts: 1 },
          summary: 'the agent is busy with its own work',
        });
        await this.#untilAnswered();
        if (epoch !== this.epoch) return;
        if (result === 'quiet') this.quiet = true;
        else if (result === 'gone') this.lose(epoch);
        else this.#pokes++;
      } catch (error) {
        if (wf.isCancellation(error)) return;
        await this.#untilAnswered();
        const timeout = activityOutcome(error)?.timeout;
        if (timeout === 'START_TO_CLOSE') return;
        if (timeout === 'HEARTBEAT') this.#deaths++;
        this.lose(epoch);
      } finally {
        this.watching = false;
      }
    });
    watched.catch(() => {});
  }

  /**
   * Waits for the answer that is under way. Core may record an answer with one task and tell of it in the next, together with
   * events that came meanwhile; a replay is told of it first. So what came has to mean the same before it and after it.
   */
  async #untilAnswered(): Promise<void> {
    await wf.condition(() => !this.#advancing);
  }

  /** A loop was built: what the run knew of the one before is of no use. */
  #meet(built: NonNullable<Advance['built']>): void {
    this.epoch = built.epoch;
    this.host = built.host;
    this.settings = built.settings ?? {};
    this.cancelSent = false;
    this.#seen = 0;
    const wasFirst = this.#traced.has(built.epoch);
    if (wasFirst) this.#survived();
    this.#awaitsTrace = built.traced && !wasFirst ? built.epoch : undefined;
  }

  #survived(): void {
    if (this.#deaths > 0) this.#deaths--;
  }

  #note({ took = {}, steps = [], end }: Advance): void {
    const { records = 0, pokes = 0, acts = 0, messages = 0, cancel } = took;
    if (steps.length > 0 || end) this.#deaths = 0;
    this.from = records;
    this.#pokesTaken = Math.max(this.#pokesTaken, pokes);
    this.#actsGranted = Math.max(this.#actsGranted, acts);
    this.messagesTaken = Math.max(this.messagesTaken, messages);
    for (const { no } of steps) this.#seen = Math.max(this.#seen, no);
    if (!cancel) return;
    this.cancelSent = true;
    this.#options.body.cancel();
  }

  #task(): Pick<AdvanceInput, 'taskTimeoutMs' | 'taskStartedAt' | 'historyLength' | 'agains'> {
    const { taskTimeoutMs, historyLength } = wf.workflowInfo();
    return {
      taskTimeoutMs,
      taskStartedAt: Date.now(),
      historyLength,
      ...(this.#agains > 0 && { agains: this.#agains }),
    };
  }
}
