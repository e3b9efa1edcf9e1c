/** One in-process execution of an agent's function. Disposable: another can be built from the run's records. */
import { randomBytes } from 'node:crypto';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { CancelledFailure } from '@temporalio/common';
import { fromStepFailure, isFinal, toStepFailure } from '../errors/failure.ts';
import type { Advance, LoopEnd } from '../protocol/advance.ts';
import { MAX_BATCH_BYTES } from '../protocol/limits.ts';
import type { Step, StepRecord } from '../protocol/step.ts';
import { countLost } from './count-lost.ts';
import { currentPosition, runAtTop } from './current-loop.ts';
import { type Delivered, Delivery } from './delivery.ts';
import type { RunStorage } from '../blobs/run-storage.ts';
import { fieldHashes, type Fingerprinted } from './fingerprint.ts';
import { Keys } from './keys.ts';
import { assertFits, assertRecordable } from './recordable.ts';
import { startOfText } from '../records/run-report.ts';
import { type Closure, stepFor, type StepRequest } from './step-request.ts';
import { worstCase } from './worst-case.ts';

interface Asked {
  step: Step;
  resolve(value: unknown): void;
  reject(error: Error): void;
  closure?: Closure | undefined;
  onEdited?: StepRequest['onEdited'] | undefined;
}

/** What a loop is built from. */
export interface LoopSource {
  runId: string;
  workflowId: string;
  /** The agent's name. */
  agent: string;
  /** First run id of the chain. */
  chain: string;
  /** Of the call that its run is, if that is a tool's. */
  idempotencyKey?: string | undefined;
  /** What its worker keeps outside of histories. */
  storage: RunStorage;
  /** Keys of the steps that earlier loops asked and that have no record. */
  pending: readonly string[];
  /** Those of them that were asked since a loop with changed code left the recorded path. */
  pendingChanged: readonly string[];
  divergedAt: number | undefined;
  /** Of a fork: so many records stand whatever its code asks. */
  pinned?: number | undefined;
  /** Its run has a budget, and a turn that sets no limit is taken to answer so many tokens at most. */
  maxOutputTokens?: number | undefined;
  body(loop: Loop): Promise<unknown>;
  /** It has something for its run, and no `advance` waits for it. */
  ready(): void;
  /** Whether a worker serves this tool as an activity of its own name. */
  serves(tool: object): boolean;
}

/** Kinds whose answer may take days. */
const LONG_WAITS = new Set(['approval', 'sleep', 'agent', 'message']);

export class Loop {
  readonly runId: string;
  /** First run id of the chain. */
  readonly chain: string;
  /** Not to be guessed: who knows it may tell the run what the loop asks. */
  readonly epoch = randomBytes(9).toString('base64url');
  readonly abort = new AbortController();
  cancelled = false;
  end: LoopEnd | undefined;
  /** When an `advance` or a watch last left, or a step of its own was last tried. */
  touched = Date.now();
  /** `advance` calls and watches that wait here now. */
  waiting = 0;
  readonly #source: LoopSource;
  readonly #asked = new Map<string, Asked>();
  readonly keys = new Keys();
  readonly #delivery: Delivery;
  /** The last step of which the run has heard, as it last said: less than before, if a task was lost in which it had. */
  #seen = 0;
  #number = 0;
  /** The last of the steps that it has had answers to. */
  #settledUpTo = 0;
  /** The loop had an answer before the run and asked nothing in time: once that is recorded, the run asks. */
  #runComes = false;
  readonly #wakes = new Set<() => void>();

  constructor(source: LoopSource) {
    this.runId = source.runId;
    this.chain = source.chain;
    this.#source = source;
    this.#delivery = new Delivery({
      pending: source.pending,
      pendingChanged: source.pendingChanged,
      divergedAt: source.divergedAt,
      pinned: source.pinned,
      isAsked: (key) => this.#asked.has(key),
      settle: (record) => this.#settle(record),
      settled: () => this.#wake(),
    });
  }

  /** Starts the agent's code; after `take`, so that its first step finds its record. */
  start(): void {
    runAtTop(this, () => void this.#run());
  }

  serves(tool: object): boolean {
    return this.#source.serves(tool);
  }

  /** The run it is of, the agent, and what its worker keeps. */
  get source(): Pick<LoopSource, 'workflowId' | 'agent' | 'storage' | 'idempotencyKey'> {
    return this.#source;
  }

  async #run(): Promise<void> {
    try {
      this.end = { output: await this.#source.body(this) };
    } catch (error) {
      this.end = { failure: toStepFailure(error), ...(isFinal(error) && { final: true }) };
    }
    this.#wake();
    this.#tell();
  }

  /** Whether it was dropped: nobody answers it any more. */
  get dropped(): boolean {
    return this.abort.signal.aborted && !this.cancelled;
  }

  /** Whether it does again what an earlier loop did, so that whoever looks on has seen it. */
  get replaying(): boolean {
    return this.#delivery.replaying;
  }

  /** Asks the run for a step. A dropped loop is never told: frameworks turn exceptions into model text and go on. */
  async ask<T>(request: StepRequest): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const { scope = '', shielded = false } = currentPosition() ?? {};
    const { kind, name, input, readOnly, closure, onEdited } = request;
    const mayAsk = () => {
      if (this.cancelled && !shielded) throw new CancelledFailure('The run was cancelled.');
      return !this.dropped;
    };
    if (!mayAsk()) return (await promise) as T;
    assertRecordable(input, `The input of ${kind} ${name}`);
    assertFits(input, `The input of ${kind} ${name}`, this.#source.storage.maxPayloadBytes);
    const asked = this.keys.next({ kind, name, request: request.request, scope });
    const decided = readOnly && this.#delivery.decidedFor(asked);
    if (decided) {
      await decided;
      if (!mayAsk()) return (await promise) as T;
    }
    const key =
      kind === 'turn'
        ? this.#delivery.turnKeyFor(asked, name)
        : this.#delivery.keyFor(asked, readOnly === true);
    this.keys.note(scope, key);
    const step = stepFor(request, key, shielded);
    const before = this.#delivery.isPending(key);
    let runs = 0;
    const idempotencyKey = `${this.#source.chain}:${key}`;
    const again: Closure | undefined =
      closure && ((signal, edited) => closure(signal, before || runs++ > 0, idempotencyKey, edited));
    const run = again && kind === 'turn' ? countLost(again) : again;
    this.#asked.set(key, { step, resolve, reject, closure: run, onEdited });
    if (!this.#delivery.asked(key)) {
      if (this.#delivery.decided) await this.#delivery.decided;
      // The run may have been cancelled meanwhile, or the loop dropped.
      if (this.#asked.has(key)) this.#handOut(step, request);
    }
    return (await promise) as T;
  }

  /** Tells the run of a step that has no record. */
  #handOut(step: Step, { kind, request, about, maxOutputTokens }: StepRequest): void {
    if (kind === 'turn') {
      if (about) step.asked = startOfText(about);
      step.parts = fieldHashes(request);
      const missed = this.#delivery.missedFields(step.parts);
      if (missed) step.missed = missed;
      const { maxOutputTokens: most } = this.#source;
      if (most !== undefined) step.worst = worstCase(request, maxOutputTokens ?? most);
    }
    step.no = ++this.#number;
    this.#wake();
    this.#tell();
  }

  /** Goes on after a step that an earlier loop had the answer to; what was recorded before it was its own work. */
  goOnAfter(step: Fingerprinted): boolean {
    return this.#asked.size === 0 && this.#delivery.passOver(this.keys.first(step));
  }

  /** Keys of all that was asked in a scope, and in scopes within it, and has a record. */
  recordedWithin(scope: string): string[] {
    return this.keys.within(scope).filter((key) => this.#delivery.has(key));
  }

  /** The recorded answer to a step that was not asked yet, nor any like it. */
  answerBefore(step: Fingerprinted): unknown {
    return this.#delivery.answerTo(this.keys.first(step));
  }

  /** Nobody will ask for these: what they were asked for is done. */
  passOver(keys: readonly string[]): void {
    this.#delivery.passOverKeys(keys);
  }

  /** What a step that waits for its answer is, and its name. */
  stepOf(key: string): Pick<Step, 'kind' | 'name'> | undefined {
    return this.#asked.get(key)?.step;
  }

  closure(key: string): Closure | undefined {
    // A step that is tried again needs its loop, however long it waits in between.
    this.touched = Date.now();
    return this.#asked.get(key)?.closure;
  }

  /** It has had an answer to a step of which a run that has seen so many has not heard. */
  isBeyond(seen: number): boolean {
    return this.#settledUpTo > seen;
  }

  /** How many records it has had. */
  get had(): number {
    return this.#delivery.had;
  }

  /** Takes the records after the first `from`. Answers why not, if this loop is not where the run is. */
  take(from: number, records: StepRecord[], seen: number): string | undefined {
    if (seen > this.#number) return 'behind in steps';
    const wrong = this.#delivery.take(from, records);
    if (wrong === undefined && this.had === from + records.length) this.#runComes = false;
    return wrong;
  }

  /** Waits until it has had its records; not for those it does not ask for in so many milliseconds. */
  async caughtUp(patience: number): Promise<void> {
    let deadline = performance.now() + patience;
    while ((this.#delivery.unread || this.#delivery.busy) && !this.end && !this.dropped) {
      const left = deadline - performance.now();
      if (this.#delivery.busy) deadline = performance.now() + patience;
      else if (left <= 0) return;
      await this.#woken(Math.max(1, left));
    }
  }

  /** The run is cancelled: pending and later steps reject, but for the shielded ones. */
  cancel(): void {
    const reason = new CancelledFailure('The run was cancelled.');
    this.cancelled = true;
    this.#delivery.cancel();
    this.abort.abort(reason);
    for (const [key, asked] of this.#asked) {
      if (asked.step.shielded) continue;
      this.#asked.delete(key);
      asked.reject(reason);
    }
  }

  /** Nobody answers this loop any more. Its pending steps never settle. */
  drop(why: string): void {
    if (!this.end && !this.abort.signal.aborted)
      this.abort.abort(new Error(`This loop was dropped: ${why}.`));
    this.#asked.clear();
    this.#wake();
  }

  /** It has something, nobody waits for it, and no answer is on its way with which the run will come. */
  get mustTell(): boolean {
    return this.waiting === 0 && this.hasSomething && !this.#runComes;
  }

  get hasSomething(): boolean {
    if (this.end !== undefined || this.#number <= this.#seen) return this.end !== undefined;
    for (const { step } of this.#asked.values()) if (step.no > this.#seen) return true;
    return false;
  }

  /** What it waits for and the run has not heard of. */
  get #unacknowledged(): Step[] {
    return [...this.#asked.values()].map(({ step }) => step).filter(({ no }) => no > this.#seen);
  }

  /** Waits for nothing but what takes long, so that it can be dropped and built again. */
  get onlyWaitsLong(): boolean {
    if (this.end) return true;
    const asked = [...this.#asked.values()];
    return (
      asked.length > 0 &&
      asked.every(({ step }) => LONG_WAITS.has(step.kind) || step.approval !== undefined || step.suspends)
    );
  }

  /** Waits for the run, however long that takes. */
  get onlyWaits(): boolean {
    return this.end !== undefined || this.#asked.size > 0;
  }

  /** Steps, the end, or idle once it has been quiet for `patience` milliseconds since the last delivery. */
  async next(seen: number, patience: number): Promise<Advance> {
    this.#seen = seen;
    this.waiting++;
    try {
      let deadline = performance.now() + patience;
      while (!this.hasSomething && !this.dropped) {
        const left = deadline - performance.now();
        if (this.#delivery.busy) deadline = performance.now() + patience;
        else if (left <= 0) return this.#result({});
        await this.#woken(Math.max(1, left));
      }
      // Whatever is asked in the same turn of the event loop goes along.
      await eventLoopTurn();
      const steps = this.#batch();
      // More than one marker may hold: the commands of one task must fit one message.
      const more = steps.length < this.#unacknowledged.length || (this.end !== undefined && steps.length > 0);
      if (more) this.#source.ready();
      return this.#result({
        ...(steps.length > 0 && { steps }),
        ...(this.end && steps.length === 0 && { end: this.end }),
      });
    } finally {
      this.waiting--;
      this.touched = Date.now();
    }
  }

  /**
   * Gives the loop the answer to the one step it waits for before the run has recorded it, and answers what it asks then,
   * to be sent along with it. Its code thereby runs on for so long without a record of what it was told; whatever it asks
   * waits for that. `undefined` if it waits for other things too, or asks nothing in so many milliseconds.
   */
  async goAhead(key: string, read: () => unknown, patience: number): Promise<Advance | undefined> {
    const asked = this.#asked.get(key);
    if (this.waiting > 0 || this.cancelled || this.dropped || !this.#delivery.mayGoAhead) return undefined;
    if (!asked || this.#asked.size > 1) return undefined;
    // With changed arguments, the record says more than the answer.
    if (asked.step.approval?.edit) return undefined;
    const records = this.#delivery.takeAhead({ key, value: read() });
    const next = await this.next(asked.step.no, patience);
    this.#runComes = !next.steps && !next.end;
    return this.#runComes ? undefined : { ...next, took: { records } };
  }

  #result(result: Advance): Advance {
    const { divergedAt } = this.#delivery;
    return { ...result, ...(divergedAt !== undefined && { divergedAt }) };
  }

  /** As many steps as one marker may hold. */
  #batch(): Step[] {
    const steps: Step[] = [];
    let bytes = 0;
    for (const step of this.#unacknowledged) {
      bytes += JSON.stringify(step).length;
      if (steps.length > 0 && bytes > MAX_BATCH_BYTES) break;
      steps.push(step);
    }
    return steps;
  }

  #settle(record: Delivered): void {
    const asked = this.#asked.get(record.key);
    if (!asked) return;
    this.#asked.delete(record.key);
    this.#settledUpTo = Math.max(this.#settledUpTo, asked.step.no);
    if (record.edited) asked.onEdited?.(record.edited);
    if (record.failure) asked.reject(fromStepFailure(record.failure));
    else asked.resolve(record.value);
  }

  #tell(): void {
    if (this.waiting === 0 && this.hasSomething) this.#source.ready();
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }

  async #woken(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#wakes.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#wakes.delete(resolve);
  }
}
