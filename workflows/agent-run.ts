/**
 * The one workflow: a generic driver that does not change when a user's agent does. It owns the answers; the loop in
 * some worker process asks for them. Every decision that can be made without Temporal is in `src/records`.
 */
import * as wf from '@temporalio/workflow';
import type { Advance, AdvanceInput, LoopEnd, RunCarry, RunSettings } from '../src/protocol/advance.ts';
import {
  CROWDED_IN_FLIGHT,
  DRAIN_AT_EVENTS,
  MAX_CARRY_BYTES,
  MAX_HISTORY_BYTES,
  MAX_HISTORY_EVENTS,
  MAX_IN_FLIGHT,
} from '../src/protocol/limits.ts';
import { ADVANCE, AWAIT_LOOP, BUILD_SIGNAL, POKE_SIGNAL } from '../src/protocol/names.ts';
import { approve, records as recordsQuery, reject, waiting } from '../src/protocol/signals.ts';
import type { Step, StepFailure } from '../src/protocol/step.ts';
import { Approvals } from '../src/records/approvals.ts';
import { agentBackoff, isWatched } from '../src/records/outcomes.ts';
import { runDetails } from '../src/records/run-details.ts';
import { jsonBytes, largestRecord, RunRecords } from '../src/records/run-records.ts';
import { handleSignal } from './raw-signals.ts';
import { type Answer, type InFlight, type StepContext, takeStep } from './take-step.ts';

const CANCEL_GRACE = '10 seconds';
/** How long a run that is over waits for tools that may have an effect, so that a resumed run has their records. */
const EFFECTS_GRACE = '2 minutes';
const { [ADVANCE]: advance } = wf.proxyLocalActivities<
  Record<typeof ADVANCE, (input: AdvanceInput) => Promise<Advance>>
>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '5s' },
});

/**
 * Runs the agent whose name is the workflow's type.
 * @param input what the agent's function gets
 * @param carry set by the run itself when it continues as new
 */
export async function agentRun(input?: unknown, carry?: RunCarry): Promise<unknown> {
  const run = new AgentRun(input, carry?.version === 1 ? carry : undefined);
  return await wf.CancellationScope.nonCancellable(() => run.drive());
}

class AgentRun {
  readonly #agent = wf.workflowInfo().workflowType;
  readonly #input: unknown;
  readonly #records: RunRecords;
  /** Records that came from the run before. */
  readonly #carried: number;
  readonly #approvals: Approvals;
  readonly #chain: string;
  readonly #losses: Map<string, number>;
  readonly #sleeps: Map<string, number>;
  readonly #context: StepContext;
  readonly #inFlight = new Map<string, InFlight>();
  /** Keys asked by any loop that have no record; true: since a loop with changed code left the recorded path. */
  readonly #open: Map<string, boolean>;
  readonly #backlog: Step[] = [];
  #maxInFlight = MAX_IN_FLIGHT;
  /** What the present loop has asked, by key. */
  #asked = new Map<string, Step>();
  /** The loop the run knows, its host, how many records it has had, and the last step number taken from it. */
  #epoch: string | undefined;
  #host = '';
  #from = 0;
  #seen = 0;
  #settings: RunSettings = {};
  #divergedAt: number | undefined;
  /** The loop that left the recorded path last. */
  #divergedEpoch: string | undefined;
  #agentFailures: number;
  #lostBuilds = 0;
  #agains = 0;
  /** How often something asked to act on what came, and how much of that was granted; see `StepContext.mayAct`. */
  #actsAsked = 0;
  #actsGranted = 0;
  /** The last epoch that left a trace of its build. */
  #traced: string | undefined;
  /** The loop whose trace is on its way. */
  #awaitsTrace: string | undefined;
  /** Signals of the loop, and how many of them it was answered. */
  #pokes = 0;
  #pokesTaken = 0;
  /** The loop whose host is known to be gone. */
  #lostEpoch: string | undefined;
  #watching = false;
  /** The loop was quiet beside a long wait: the answer to that wait will tell whether it lives. */
  #quiet = false;
  #tooLarge: StepFailure | undefined;
  #cancelling = false;
  #cancelSent = false;
  /** Everything a cancel of the run reaches. */
  readonly #body = new wf.CancellationScope({ cancellable: true });

  constructor(input: unknown, carry: RunCarry | undefined) {
    this.#input = input;
    this.#records = new RunRecords(carry?.records);
    this.#carried = this.#records.size;
    this.#approvals = new Approvals(carry?.approvals);
    this.#chain = carry?.chain ?? wf.workflowInfo().firstExecutionRunId;
    this.#losses = new Map(carry?.losses);
    this.#sleeps = new Map(carry?.sleeps);
    this.#open = new Map(carry?.open);
    this.#agentFailures = carry?.agentFailures ?? 0;
    this.#divergedAt = carry?.divergedAt;
    this.#context = {
      chain: this.#chain,
      host: () => this.#host,
      settings: () => this.#settings,
      askedNow: (key) => this.#asked.has(key),
      mayAct: async () => {
        const ask = ++this.#actsAsked;
        await wf.condition(() => this.#actsGranted >= ask);
      },
      approvals: this.#approvals,
      losses: this.#losses,
      sleeps: this.#sleeps,
    };
    for (const signal of [approve, reject]) {
      handleSignal(signal.name, (payload) => {
        const refusal = this.#approvals.decide(signal.name, payload, Date.now());
        if (refusal !== undefined) wf.log.warn(`Signal ${signal.name} refused: ${refusal}`);
        this.#describe();
      });
    }
    wf.setHandler(wf.defineSignal<[string]>(POKE_SIGNAL), (epoch) => {
      if (epoch === this.#epoch) this.#pokes++;
    });
    wf.setHandler(wf.defineSignal<[string]>(BUILD_SIGNAL), (epoch) => {
      this.#traced = epoch;
      if (epoch !== this.#epoch) this.#lostBuilds++;
    });
    wf.setHandler(recordsQuery, () => this.#records.list);
    wf.setHandler(waiting, () => ({ approvals: this.#pending(), refused: this.#approvals.refused }));
    wf.CancellationScope.current().cancelRequested.catch(() => {
      this.#cancelling = true;
    });
  }

  async drive(): Promise<unknown> {
    for (;;) {
      const got = await this.#advance();
      if (!got) continue;
      this.#failNearTheLimit();
      if (this.#mayContinueAsNew(got)) await this.#continueAsNew();
      this.#dispatchAll(got.steps ?? []);
      if (got.end) {
        if (await this.#restarts(got.end)) continue;
        return await this.#finish(got.end);
      }
      this.#quiet = false;
      this.#describe();
      await this.#untilDue();
    }
  }

  #isLost(): boolean {
    return this.#epoch !== undefined && this.#lostEpoch === this.#epoch;
  }

  /**
   * Gives the loop everything answered so far. `undefined`: ask again, or that loop is gone and another must be built.
   * Events may come while this waits; what follows goes by what the answer took account of (`took`), not by what is known
   * when it comes, so that a replay, which may know of them before, does the same.
   */
  async #advance(): Promise<Advance | undefined> {
    const builds = this.#epoch === undefined || this.#isLost();
    const from = builds ? 0 : this.#from;
    const got = await advance({
      agent: this.#agent,
      input: this.#input,
      from,
      records: this.#records.since(from),
      seen: builds ? 0 : this.#seen,
      inFlight: this.#inFlight.size,
      pokes: this.#pokes,
      acts: this.#actsAsked - this.#actsGranted > 0 ? this.#actsAsked : 0,
      ...this.#task(),
      ...(builds
        ? {
            pending: [...this.#open.keys()],
            pendingChanged: [...this.#open].filter(([, changed]) => changed).map(([key]) => key),
            ...(this.#divergedAt !== undefined && { divergedAt: this.#divergedAt }),
            ...(this.#lostBuilds > 0 && { lostBuilds: this.#lostBuilds }),
          }
        : { epoch: this.#epoch }),
      ...(this.#cancelling && (builds || !this.#cancelSent) && { cancel: true as const }),
    });
    if (got.again) {
      this.#agains++;
      if (got.crowded) this.#maxInFlight = Math.max(CROWDED_IN_FLIGHT, Math.floor(this.#maxInFlight / 4));
      return undefined;
    }
    this.#agains = 0;
    if (got.lost === 'unknown agent') {
      // Fails this task, not the run: another worker may have the agent, as Temporal does for unknown workflow types.
      throw new Error(`This worker has no agent named "${this.#agent}".`);
    }
    if (got.lost !== undefined) {
      this.#lostEpoch = this.#epoch;
      return undefined;
    }
    if (got.built) this.#meet(got.built);
    this.#noteAsked(got);
    const { records = 0, pokes = 0, acts = 0, cancel } = got.took ?? {};
    this.#from = records;
    this.#pokesTaken = Math.max(this.#pokesTaken, pokes);
    this.#actsGranted = Math.max(this.#actsGranted, acts);
    if (cancel) {
      this.#cancelSent = true;
      this.#body.cancel();
    }
    return got;
  }

  /** A loop was built: what the run knew of the one before is of no use. */
  #meet(built: NonNullable<Advance['built']>): void {
    this.#epoch = built.epoch;
    this.#host = built.host;
    this.#settings = built.settings ?? {};
    this.#lostBuilds = 0;
    this.#cancelSent = false;
    this.#seen = 0;
    this.#asked = new Map();
    this.#awaitsTrace = built.traced ? built.epoch : undefined;
  }

  #task(): Pick<AdvanceInput, 'taskTimeoutMs' | 'historyLength' | 'agains'> {
    const { taskTimeoutMs, historyLength } = wf.workflowInfo();
    return { taskTimeoutMs, historyLength, ...(this.#agains > 0 && { agains: this.#agains }) };
  }

  #noteAsked({ divergedAt, steps = [] }: Advance): void {
    if (divergedAt !== undefined && this.#divergedEpoch !== this.#epoch) {
      this.#divergedAt = divergedAt;
      this.#divergedEpoch = this.#epoch;
      for (const key of this.#open.keys()) this.#open.set(key, false);
    }
    for (const { key } of steps) {
      if (!this.#records.has(key) && !this.#open.has(key))
        this.#open.set(key, this.#divergedAt !== undefined);
    }
  }

  #dispatchAll(steps: Step[]): void {
    let tools = 0;
    for (const step of steps) {
      this.#seen = Math.max(this.#seen, step.no);
      this.#asked.set(step.key, step);
      // Beyond the first few of a batch, tools are left to all workers: eager dispatch would run them all here.
      const eager = step.kind !== 'tool' || step.local === true || ++tools <= 3;
      this.#dispatch(step, eager);
    }
    while (this.#backlog.length > 0 && this.#kindsInFlight().length < this.#maxInFlight) {
      this.#dispatch(this.#backlog.shift()!, false);
    }
  }

  #dispatch(step: Step, eager: boolean): void {
    if (this.#records.has(step.key) || this.#inFlight.has(step.key)) return;
    if (this.#kindsInFlight().length >= this.#maxInFlight) {
      if (!this.#backlog.some((queued) => queued.key === step.key)) this.#backlog.push(step);
      return;
    }
    const start = async () => {
      const flight: InFlight = {
        step,
        epoch: this.#epoch ?? '',
        doing: step.kind,
        attempts: 0,
        askedAt: Date.now(),
        scope: new wf.CancellationScope(),
        withdrawn: false,
      };
      this.#inFlight.set(step.key, flight);
      await flight.scope.run(() => this.#take(flight, eager));
    };
    // `#take` answers for every failure; what is left is the cancellation of the scope, which needs no answer.
    const taken = step.shielded ? wf.CancellationScope.nonCancellable(start) : this.#body.run(start);
    taken.catch(() => {
      this.#inFlight.delete(step.key);
    });
  }

  async #take(flight: InFlight, eager: boolean): Promise<void> {
    const { step } = flight;
    let answer: Answer | undefined;
    try {
      answer = await takeStep(this.#context, flight, eager);
    } catch (error) {
      const ours = flight.withdrawn || (this.#cancelling && !step.shielded);
      if (ours && wf.isCancellation(error)) {
        this.#inFlight.delete(step.key);
        return;
      }
      answer = { failure: failureOf(error) };
    }
    if (answer) return this.#answer(flight, answer);
    this.#inFlight.delete(step.key);
    // Its host is gone. If that was the present loop's, build another, which asks again; else the present loop, which
    // found it in flight, may have asked it already.
    const again = this.#asked.get(step.key);
    if (flight.epoch === this.#epoch) this.#lostEpoch = this.#epoch;
    else if (again) {
      this.#backlog.push(again);
      this.#actsAsked++;
    }
  }

  #answer(flight: InFlight, answer: Answer): void {
    const { step, attempts, askedAt } = flight;
    this.#inFlight.delete(step.key);
    this.#losses.delete(step.key);
    this.#open.delete(step.key);
    this.#records.add({
      key: step.key,
      kind: step.kind,
      name: step.name,
      ...answer,
      attempts: Math.max(1, attempts),
      askedAt,
      answeredAt: Date.now(),
    });
  }

  async #untilDue(): Promise<void> {
    const due = () =>
      this.#records.size > this.#from ||
      this.#pokes > this.#pokesTaken ||
      this.#actsAsked > this.#actsGranted ||
      this.#isLost() ||
      (this.#cancelling && !this.#cancelSent);
    if (this.#cancelSent) {
      const more = await wf.condition(due, CANCEL_GRACE);
      if (!more && this.#inFlight.size === 0) throw new wf.CancelledFailure('The run was cancelled.');
      return;
    }
    const unwatched = () =>
      !this.#cancelling &&
      !isWatched({ inFlight: this.#kindsInFlight(), watching: this.#watching, quiet: this.#quiet });
    if (unwatched()) this.#watch();
    while (!due()) {
      await wf.condition(() => due() || unwatched());
      if (!due()) this.#watch();
    }
  }

  /** Kinds of the steps in flight, as of the last answer of the loop: what was answered since still counts. */
  #kindsInFlight(): Step['kind'][] {
    const since = this.#records.since(this.#from).map(({ kind }) => kind);
    return [...[...this.#inFlight.values()].map(({ doing }) => doing), ...since];
  }

  /** Lets the host hold a loop that is busy with its own work, so that the host's death is noticed. */
  #watch(): void {
    this.#watching = true;
    const epoch = this.#epoch;
    const quietFor = this.#inFlight.size > 0 ? (this.#settings.watchForMs ?? 5_000) : 0;
    const watched = this.#body.run(async () => {
      try {
        const result = await wf.scheduleActivity(AWAIT_LOOP, [epoch, this.#seen, quietFor], {
          taskQueue: this.#host,
          startToCloseTimeout: '1 hour',
          heartbeatTimeout: this.#settings.heartbeatTimeout ?? '10 seconds',
          scheduleToStartTimeout: '5s',
          retry: { maximumAttempts: 1 },
          summary: 'the agent is busy with its own work',
        });
        if (epoch !== this.#epoch) return;
        if (result === 'quiet') this.#quiet = true;
        else if (result === 'gone') this.#lostEpoch = epoch;
        else this.#pokes++;
      } catch (error) {
        if (wf.isCancellation(error)) return;
        const cause = error instanceof wf.ActivityFailure ? error.cause : undefined;
        const over = cause instanceof wf.TimeoutFailure && cause.timeoutType === 'START_TO_CLOSE';
        if (!over) this.#lostEpoch = epoch;
      } finally {
        this.#watching = false;
      }
    });
    watched.catch(() => {});
  }

  /** The agent's function threw: it is started again, from its records, as often as it may. */
  async #restarts(end: LoopEnd): Promise<boolean> {
    if (!end.failure || end.final || this.#cancelling) return false;
    if (this.#agentFailures >= (this.#settings.agentRetries ?? 2)) return false;
    this.#agentFailures++;
    wf.log.warn(`Agent ${this.#agent} failed and is started again: ${end.failure.message}`);
    await wf.condition(() => this.#cancelling, agentBackoff(this.#agentFailures));
    this.#lostEpoch = this.#epoch;
    return true;
  }

  /** Nobody waits any more. What has no effect outside is cut off; what may have one is awaited and recorded. */
  async #finish(end: LoopEnd): Promise<unknown> {
    const failed = end.failure !== undefined;
    const mustEnd: string[] = [];
    for (const flight of this.#inFlight.values()) {
      const { step, doing } = flight;
      const effect = doing === 'agent' || (doing === 'tool' && !step.readOnly);
      const awaited = effect && (failed || !this.#asked.has(step.key));
      if (awaited || this.#cancelling) mustEnd.push(step.key);
      if (!awaited) {
        flight.withdrawn = true;
        flight.scope.cancel();
      }
    }
    this.#backlog.length = 0;
    this.#actsGranted = Infinity;
    this.#describe();
    const grace = this.#cancelling ? CANCEL_GRACE : EFFECTS_GRACE;
    await wf.condition(() => !mustEnd.some((key) => this.#inFlight.has(key)), grace);
    // A task that ends the run is refused while a signal is on its way, and each attempt would leave another trace.
    await wf.condition(() => this.#awaitsTrace === undefined || this.#traced === this.#awaitsTrace);
    if (this.#cancelling) throw new wf.CancelledFailure('The run was cancelled.');
    if (end.failure) throw applicationFailure(end.failure);
    return end.output;
  }

  #mayContinueAsNew(got: Advance): boolean {
    if (got.end || this.#cancelling || this.#tooLarge) return false;
    const info = wf.workflowInfo();
    const limit = this.#settings.continueAfterRecords;
    const suggested =
      info.continueAsNewSuggested || (limit !== undefined && this.#records.size - this.#carried >= limit);
    const settled = this.#records.size === this.#from && this.#onlyWaits();
    return suggested && (settled || info.historyLength > DRAIN_AT_EVENTS);
  }

  #onlyWaits(): boolean {
    return [...this.#inFlight.values()].every(({ doing }) => doing === 'approval' || doing === 'sleep');
  }

  /** The steps just handed out are asked again by the next run's loop. Returns if the records are too large for that. */
  async #continueAsNew(): Promise<void> {
    await wf.condition(() => this.#onlyWaits());
    await wf.condition(wf.allHandlersFinished);
    const carry: RunCarry = {
      version: 1,
      records: this.#records.list,
      chain: this.#chain,
      approvals: this.#approvals.carry(),
      losses: [...this.#losses],
      sleeps: [...this.#sleeps],
      open: [...this.#open],
      agentFailures: this.#agentFailures,
      ...(this.#divergedAt !== undefined && { divergedAt: this.#divergedAt }),
    };
    const bytes = jsonBytes(carry);
    if (bytes > MAX_CARRY_BYTES) {
      const largest = largestRecord(this.#records.list);
      const named =
        largest &&
        `; the largest is ${largest.record.kind} ${largest.record.name} with ${largest.bytes} bytes`;
      this.#tooLarge = {
        name: 'RecordsTooLargeError',
        message: `Cannot continue as new: the records have ${bytes} bytes, the limit is ${MAX_CARRY_BYTES}${named ?? ''}.`,
      };
      wf.log.warn(
        `${this.#tooLarge.message} The run goes on in its present history and fails when that is full.`,
      );
      return;
    }
    const nothing = { from: 0, records: [], seen: 0, inFlight: 0, pokes: 0, acts: 0 };
    await advance({ agent: this.#agent, input: null, ...nothing, ...this.#task(), leave: true });
    this.#body.cancel();
    await wf.continueAsNew<typeof agentRun>(this.#input, carry);
  }

  #failNearTheLimit(): void {
    if (!this.#tooLarge) return;
    const { historyLength, historySize } = wf.workflowInfo();
    if (historyLength > MAX_HISTORY_EVENTS || historySize > MAX_HISTORY_BYTES)
      throw applicationFailure(this.#tooLarge);
  }

  #pending() {
    return this.#approvals.pending((key) => this.#asked.has(key.split('?')[0]!));
  }

  #describe(): void {
    wf.setCurrentDetails(
      runDetails({
        records: this.#records.list,
        inFlight: [...this.#inFlight.values()].map(({ doing, step }) => ({ kind: doing, name: step.name })),
        approvals: this.#pending(),
        refused: this.#approvals.refused,
      }),
    );
  }
}

function applicationFailure({ name, message, ...rest }: StepFailure): wf.ApplicationFailure {
  return wf.ApplicationFailure.create({
    message,
    type: name,
    nonRetryable: true,
    ...(Object.keys(rest).length > 0 && { details: [rest] }),
  });
}

/** The failure of a child, of a start that was refused, or of the workflow's own. */
function failureOf(error: unknown): StepFailure {
  const cause =
    error instanceof wf.ChildWorkflowFailure || error instanceof wf.ActivityFailure ? error.cause : error;
  if (cause instanceof wf.ApplicationFailure) {
    return {
      name: cause.type ?? 'Error',
      message: cause.message,
      ...(cause.details?.[0] as object | undefined),
    };
  }
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  return { name, message };
}
