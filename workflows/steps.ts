/** The steps of a run: what its loops asked, what is in flight, and what waits for room. */
import * as wf from '@temporalio/workflow';
import type { Advance, RunCarry } from '../src/protocol/advance.ts';
import type { RunReport } from '../src/protocol/report.ts';
import { CROWDED_IN_FLIGHT, MAX_IN_FLIGHT } from '../src/protocol/limits.ts';
import type { Step } from '../src/protocol/step.ts';
import { packParts } from '../src/records/misses.ts';
import type { RunRecords } from '../src/records/run-records.ts';
import { askedOf, childId } from '../src/records/run-report.ts';
import { failureOf } from './failures.ts';
import type { LoopLink } from './loop-link.ts';
import type { Answer, InFlight, StepContext } from './step-context.ts';
import { takeStep } from './take-step.ts';

/** What waits in a run that goes on as a new one. */
const LONG = new Set<Step['kind']>(['approval', 'sleep', 'message']);

/** Whether a step waits for what takes long. */
export function waitsLong({ kind, approval }: Step): boolean {
  return LONG.has(kind) || approval !== undefined;
}

export interface StepsOptions {
  records: RunRecords;
  context: StepContext;
  /** Everything a cancel of the run reaches. */
  body: wf.CancellationScope;
  carry: Partial<RunCarry> | undefined;
}

export class Steps {
  readonly #options: StepsOptions;
  readonly #link: LoopLink;
  readonly #inFlight = new Map<string, InFlight>();
  /** Keys asked by any loop that have no record; true: since a loop with changed code left the recorded path. */
  readonly #open: Map<string, boolean>;
  readonly #backlog: Step[] = [];
  /** Of turns that were asked in the place of recorded ones: which fields of their request are others. */
  readonly #missed = new Map<string, string[]>();
  #maxInFlight = MAX_IN_FLIGHT;
  /** What the present loop has asked, by key. */
  #asked = new Map<string, Step>();
  /** How many records the loop has had. */
  #had = 0;
  divergedAt: number | undefined;
  /** The loop that left the recorded path last. */
  #divergedEpoch: string | undefined;

  constructor(options: StepsOptions) {
    this.#options = options;
    this.#link = options.context.link;
    this.#open = new Map(options.carry?.open);
    this.divergedAt = options.carry?.divergedAt;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  get open(): [string, boolean][] {
    return [...this.#open];
  }

  has(key: string): boolean {
    return this.#inFlight.has(key);
  }

  askedNow(key: string): boolean {
    return this.#asked.has(key);
  }

  /** Another loop takes over: it has asked nothing yet. */
  forgetAsked(): void {
    this.#asked = new Map();
  }

  /** Answers came faster than tasks can take them. */
  crowded(): void {
    this.#maxInFlight = Math.max(CROWDED_IN_FLIGHT, Math.floor(this.#maxInFlight / 4));
  }

  list(): RunReport['inFlight'] {
    const { workflowId } = wf.workflowInfo();
    return [...this.#inFlight.values()].map(({ doing, step, askedAt }) => ({
      kind: doing,
      name: step.name,
      askedAt,
      ...(doing === 'agent' && { child: childId(workflowId, step) }),
    }));
  }

  /** Kinds of the steps in flight, as of the last answer of the loop: what was answered since still counts. */
  kinds(): Step['kind'][] {
    const since = this.#options.records.since(this.#had).map(({ kind }) => kind);
    return [...[...this.#inFlight.values()].map(({ doing }) => doing), ...since];
  }

  /** How many `kinds` has, without listing them: asked for each step that is started. */
  #count(): number {
    return this.#inFlight.size + this.#options.records.size - this.#had;
  }

  onlyWait(): boolean {
    return [...this.#inFlight.values()].every(({ doing }) => LONG.has(doing));
  }

  /** Notes what an answer of the loop asks, and how many records it has had; starts nothing yet. */
  note({ divergedAt, steps = [], took }: Advance): void {
    this.#had = took?.records ?? 0;
    const { epoch } = this.#link;
    if (divergedAt !== undefined && this.#divergedEpoch !== epoch) {
      this.divergedAt = divergedAt;
      this.#divergedEpoch = epoch;
      for (const key of this.#open.keys()) this.#open.set(key, false);
    }
    for (const { key, missed } of steps) {
      if (this.#options.records.has(key) || this.#open.has(key)) continue;
      this.#open.set(key, this.divergedAt !== undefined);
      if (missed) this.#missed.set(key, missed);
    }
  }

  /** Starts what the loop asks, and what waited, as far as there is room; or keeps all of it back. */
  dispatch(steps: readonly Step[], keepBack = false): void {
    let tools = 0;
    if (keepBack) {
      for (const step of steps) this.#asked.set(step.key, step);
      this.#backlog.push(...steps);
      return;
    }
    for (const step of steps) {
      this.#asked.set(step.key, step);
      // Beyond the first few of a batch, tools are left to all workers: eager dispatch would run them all here.
      const eager = step.kind !== 'tool' || step.local === true || ++tools <= 3;
      this.#start(step, eager);
    }
    while (this.#backlog.length > 0 && this.#count() < this.#maxInFlight) {
      this.#start(this.#backlog.shift()!, false);
    }
  }

  /**
   * Nobody waits any more. What has no effect outside is cut off; answers the keys of those that must end by themselves.
   */
  withdraw(ending: 'success' | 'failure'): string[] {
    this.#backlog.length = 0;
    const mustEnd: string[] = [];
    for (const flight of this.#inFlight.values()) {
      const { step, doing } = flight;
      const effect = doing === 'agent' || (doing === 'tool' && !step.readOnly);
      const awaited = effect && (ending === 'failure' || !this.#asked.has(step.key));
      if (awaited || this.#link.cancelling) mustEnd.push(step.key);
      if (!awaited) {
        flight.withdrawn = true;
        flight.scope.cancel();
      }
    }
    return mustEnd;
  }

  #start(step: Step, eager: boolean): void {
    if (this.#options.records.has(step.key) || this.#inFlight.has(step.key)) return;
    if (this.#count() >= this.#maxInFlight) {
      if (!this.#backlog.some((queued) => queued.key === step.key)) this.#backlog.push(step);
      return;
    }
    const start = async () => {
      const flight: InFlight = {
        step,
        epoch: this.#link.epoch ?? '',
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
    const taken = step.shielded ? wf.CancellationScope.nonCancellable(start) : this.#options.body.run(start);
    taken.catch(() => {
      this.#inFlight.delete(step.key);
    });
  }

  async #take(flight: InFlight, eager: boolean): Promise<void> {
    const { step } = flight;
    let answer: Answer | undefined;
    try {
      answer = await takeStep(this.#options.context, flight, eager);
    } catch (error) {
      const ours = flight.withdrawn || (this.#link.cancelling && !step.shielded);
      if (ours && wf.isCancellation(error)) {
        this.#inFlight.delete(step.key);
        this.#options.context.budget.release(step.key, true);
        return;
      }
      answer = { failure: failureOf(error) };
    }
    this.#inFlight.delete(step.key);
    if (answer) return this.#answer(flight, answer);
    const { budget, losses } = this.#options.context;
    budget.release(step.key, losses.has(step.key));
    // Its host is gone. If that was the present loop's, build another, which asks again; else the present loop, which
    // found it in flight, may have asked it already.
    const again = this.#asked.get(step.key);
    if (flight.epoch === this.#link.epoch) this.#link.lose();
    else if (again) {
      this.#backlog.push(again);
      this.#link.wantsToAct();
    }
  }

  #answer({ step, attempts, askedAt, edited, heldUntil }: InFlight, { ahead, ...answer }: Answer): void {
    const { losses, started, underWay } = this.#options.context;
    const lost = (losses.get(step.key) ?? 0) + (answer.lost ?? 0);
    const missed = this.#missed.get(step.key);
    this.#missed.delete(step.key);
    for (const unsettled of [losses, started, underWay]) unsettled.delete(step.key);
    const changed = this.#open.get(step.key) === true;
    this.#open.delete(step.key);
    this.#options.records.add({
      key: step.key,
      kind: step.kind,
      name: step.name,
      ...answer,
      ...(edited && { edited }),
      ...(heldUntil !== undefined && { heldUntil }),
      ...askedOf(step),
      ...(step.suspends && { child: true as const }),
      ...(lost > 0 && { lost, ...(!answer.usage && step.worst && { worst: step.worst }) }),
      ...(step.parts && { parts: packParts(step.parts) }),
      ...(missed && { missed }),
      attempts: Math.max(1, attempts),
      askedAt,
      answeredAt: Date.now(),
      ...(changed && this.divergedAt !== undefined && { changedAt: this.divergedAt }),
    });
    if (ahead) this.#link.hearAhead(step.key, ahead);
  }
}
