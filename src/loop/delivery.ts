/** Which record goes to the loop when: in recorded order, one a turn of the event loop, to whoever asks now or later. */
import { setImmediate as eventLoopTurn, setTimeout as delay } from 'node:timers/promises';
import type { StepRecord } from '../protocol/step.ts';
import { replacedTurn } from '../records/misses.ts';

/**
 * How long a record that is not asked yet holds back later ones, and new steps, in milliseconds: the loop's own I/O may
 * come first.
 */
const HOLD_MS = 2_000;
/** The same for a loop known to run changed code: what it does not ask, it most likely never will. */
const HOLD_CHANGED_MS = 300;

/** As much of a record as the loop gets. */
export type Delivered = Pick<StepRecord, 'key' | 'value' | 'failure' | 'changedAt' | 'edited'> &
  Partial<Pick<StepRecord, 'kind' | 'name' | 'parts'>>;

interface DeliveryOptions {
  /** Keys of the steps that earlier loops asked and that have no record, when the loop was built. */
  pending: readonly string[];
  /** Those of them that were asked by a loop with changed code, after it had left the recorded path. */
  pendingChanged: readonly string[];
  /** How many records there were when a loop with changed code last left the recorded path. */
  divergedAt: number | undefined;
  /** Of a fork: so many records stand whatever its code asks. */
  pinned?: number | undefined;
  isAsked(key: string): boolean;
  settle(record: Delivered): void;
  /** All that could be delivered was. */
  settled(): void;
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #pending: Set<string>;
  readonly #pendingChanged: Set<string>;
  /** Keys of all records this loop has had, in order. */
  readonly #log: string[] = [];
  readonly #indexOf = new Map<string, number>();
  /** Keys of records that were asked by loops with changed code, and how many records there were when they left the path. */
  readonly #askedAfter = new Map<string, number>();
  /** Records for which later ones wait no longer. */
  readonly #givenUp = new Set<string>();
  /** Records not delivered yet, in recorded order. */
  readonly #queue: Delivered[] = [];
  /** Those of work that the loop need not do again; a loop that asks one of them nevertheless has it. */
  readonly #passedOver = new Map<string, Delivered>();
  /** The answer that the loop had before the run: as JSON, until the run has recorded the same. */
  #ahead: { index: number; json: string } | undefined;
  /** Keys of turns that were answered in the place of others, in a fork. */
  readonly #standIns = new Set<string>();
  /** Keys of turns in whose place the loop asked others. */
  readonly #replaced = new Set<string>();
  /** Newest rerun of each read-only step, by its key without it. */
  readonly #reruns = new Map<string, number>();
  /** Set when this loop itself leaves the recorded path. */
  divergedAt: number | undefined;
  /** How many records this loop was built with. */
  #builtWith: number | undefined;
  /** Records before this one are from before the code changed. */
  #changedAt: number | undefined;
  /** This loop runs code that left the recorded path. */
  #changed = false;
  /** The loop has asked for something the run never heard of. */
  #askedNew = false;
  /** It did so before it asked for all records: its code is other code, or a branch of it does I/O of its own first. */
  #doubt: PromiseWithResolvers<void> | undefined;
  /** Keys of read-only steps that were asked in doubt, and whose answer may turn out to be out of date. */
  readonly #undecided = new Set<string>();
  /** The run was cancelled: what is not asked yet never will be. */
  #cancelled = false;
  busy = false;

  /** How many records the loop has had. */
  get had(): number {
    return this.#log.length;
  }

  /** An earlier loop asked it, and there was no record when this one was built. */
  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  /** There are records that the loop has not had, asked for or not. */
  get unread(): boolean {
    return this.#queue.length > 0;
  }

  /** The loop has only asked what earlier loops asked, and there are answers that it has not had. */
  get replaying(): boolean {
    return this.unread && !this.#askedNew;
  }

  /**
   * Whether the loop may have an answer before the run. Not the first one after it was built again: a loop that of this
   * very answer kills its process would lose it each time.
   */
  get mayGoAhead(): boolean {
    const isFirst = this.#builtWith === 0 && this.#options.pending.length === 0;
    const hadMore = this.#log.length > (this.#builtWith ?? 0);
    return (isFirst || hadMore) && !this.unread && !this.busy;
  }

  /** If it is not known yet whether the loop runs changed code: until it is. */
  get decided(): Promise<void> | undefined {
    return this.#doubt?.promise;
  }

  /** A read-only step is asked, and it is not known yet whether its answer is out of date: until it is. */
  decidedFor(key: string): Promise<void> | undefined {
    const newest = this.#newestOf(key);
    const index = this.#indexOf.get(newest);
    if (!this.#doubt || index === undefined || index >= this.#built) return undefined;
    this.#undecided.add(newest);
    return this.#doubt.promise;
  }

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#changedAt = options.divergedAt;
    this.#pending = new Set(options.pending);
    this.#pendingChanged = new Set(options.pendingChanged);
    for (const key of options.pending) this.#noteRerun(key);
  }

  /**
   * The key under which a turn is asked: in a fork, that of the next turn which stands, whatever is asked now.
   */
  turnKeyFor(key: string, name: string): string {
    const { pinned = 0 } = this.#options;
    if (pinned === 0) return key;
    const standing = this.#queue.filter(
      (record) =>
        record.kind === 'turn' &&
        this.#indexOf.get(record.key)! < pinned &&
        !this.#options.isAsked(record.key) &&
        !this.#standIns.has(record.key),
    );
    if (standing.some((record) => record.key === key)) return key;
    const isTaken = this.#standIns.has(key);
    if (this.#indexOf.has(key) && !isTaken) return key;
    const stands = standing.find((record) => record.name === name) ?? standing[0];
    // Its own answer may have been given in the place of another.
    if (!stands) return isTaken ? `${key}*` : key;
    this.#standIns.add(stands.key);
    return stands.key;
  }

  /**
   * The key under which a step is asked. An answer of a read-only step from before the code changed is out of date for
   * a loop that left the recorded path, which asks for it anew; whatever may have an effect is never done again.
   */
  keyFor(key: string, readOnly: boolean): string {
    if (!readOnly) return key;
    const newest = this.#newestOf(key);
    const index = this.#indexOf.get(newest);
    const outOfDate = this.#changed && index !== undefined && index < (this.#changedAt ?? 0);
    if (!outOfDate) return newest;
    const rerun = (this.#reruns.get(key) ?? 0) + 1;
    this.#reruns.set(key, rerun);
    return rerunKey(key, rerun);
  }

  /** The loop asks for a key. Answers whether there is a record, which is then delivered; if not, see `decided`. */
  asked(key: string): boolean {
    const passed = this.#passedOver.get(key);
    if (passed && this.#passedOver.delete(key)) this.#queue.unshift(passed);
    const index = this.#indexOf.get(key);
    if (index === undefined && !this.isPending(key)) {
      this.#askedNew = true;
      // Answers that came since this loop was built were asked by it, or no code asks for them any more.
      if (!this.#changed && !this.#cancelled && this.#skips(this.#built)) {
        this.#doubt ??= Promise.withResolvers();
        void this.#pump();
      }
    } else if (
      this.#changedAt !== undefined &&
      (this.#pendingChanged.has(key) || this.#askedAfter.get(key) === this.#changedAt)
    ) {
      if (this.#skips(this.#changedAt)) this.#changed = true;
    }
    if (index === undefined) return false;
    void this.#pump();
    return true;
  }

  /**
   * Of a turn that has no record: in which fields its request differs from the recorded one whose place it takes. `undefined`:
   * it takes none's, or the code did not change.
   */
  missedFields(parts: Readonly<Record<string, string>>): string[] | undefined {
    if (!this.#changed) return undefined;
    const left = this.#queue.filter(
      ({ kind, key }) => kind === 'turn' && !this.#options.isAsked(key) && !this.#replaced.has(key),
    );
    const replaced = replacedTurn(parts, left);
    if (replaced) this.#replaced.add(replaced.record.key);
    return replaced?.changed;
  }

  /** The loop goes on after the step of this key, if it has a record, and asks for nothing that was recorded before it. */
  passOver(key: string | undefined): boolean {
    const until = this.#queue.findIndex((record) => record.key === key);
    if (until < 0) return false;
    this.passOverKeys(this.#queue.slice(0, until).map((record) => record.key));
    return true;
  }

  /** Whether the loop has had its record. */
  has(key: string): boolean {
    return this.#indexOf.has(key);
  }

  /** An answer that was not delivered yet. */
  answerTo(key: string | undefined): unknown {
    return this.#queue.find((record) => record.key === key)?.value;
  }

  /** The loop need not ask for these, in whatever order they were recorded. */
  passOverKeys(keys: readonly string[]): void {
    const passed = new Set(keys.filter((key) => !this.#options.isAsked(key)));
    const left = this.#queue.splice(0);
    for (const record of left) {
      if (passed.has(record.key)) this.#passedOver.set(record.key, record);
      else this.#queue.push(record);
    }
  }

  /** The run was cancelled, and whatever the loop waited for has failed. */
  cancel(): void {
    this.#cancelled = true;
  }

  /** Takes the records after the first `from`. Answers why not, if this loop is not where the run is. */
  take(from: number, records: readonly Delivered[]): string | undefined {
    if (from > this.#log.length) return 'behind';
    const has = from + records.length;
    for (let i = from; i < Math.min(has, this.#log.length); i++) {
      const record = records[i - from]!;
      const same = i !== this.#ahead?.index || answerJson(record) === this.#ahead.json;
      if (record.key !== this.#log[i] || !same) return 'on another path';
    }
    if (this.#log.length > has) return undefined;
    this.#ahead = undefined;
    this.#builtWith ??= records.length;
    for (const record of records.slice(this.#log.length - from)) this.#add(record);
    void this.#pump();
    return undefined;
  }

  /** Takes an answer that the run does not have yet. Answers how many the loop has had with it. */
  takeAhead(record: Delivered): number {
    this.#ahead = { index: this.#log.length, json: answerJson(record) };
    this.#add(record);
    void this.#pump();
    return this.#log.length;
  }

  #add(record: Delivered): void {
    this.#indexOf.set(record.key, this.#log.length);
    this.#log.push(record.key);
    this.#noteRerun(record.key);
    if (record.changedAt !== undefined) this.#askedAfter.set(record.key, record.changedAt);
    this.#queue.push(record);
  }

  /** Whether there is a record before this one for which the loop has not asked. */
  #skips(before: number): boolean {
    return this.#queue.some((record) => this.#isSkipped(record, before));
  }

  #isSkipped({ key }: Delivered, before: number): boolean {
    return this.#indexOf.get(key)! < before && !this.#options.isAsked(key) && !this.#undecided.has(key);
  }

  get #built(): number {
    return this.#builtWith ?? 0;
  }

  #newestOf(key: string): string {
    return rerunKey(key, this.#reruns.get(key) ?? 0);
  }

  #noteRerun(key: string): void {
    const [plain, rerun] = key.split('~') as [string, string?];
    if (rerun !== undefined) this.#reruns.set(plain, Math.max(this.#reruns.get(plain) ?? 0, Number(rerun)));
  }

  async #pump(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    let holdUntil = 0;
    let waitsFor = 0;
    for (;;) {
      if (this.#doubt && !this.#skips(this.#built)) this.#decide();
      const next = this.#queue.findIndex((record) => this.#options.isAsked(record.key));
      const missing = this.#missing(next);
      if (next < 0 && missing.length === 0) break;
      if (missing.length > 0) {
        // An earlier record is not asked for yet: wait for it, but not for ever, and not once the loop went its own way.
        if (missing.length !== waitsFor) holdUntil = Date.now() + (this.#changed ? HOLD_CHANGED_MS : HOLD_MS);
        waitsFor = missing.length;
        const ownWay = this.#cancelled || (this.#changed && this.#askedNew);
        if (!ownWay && Date.now() < holdUntil) {
          await delay(2);
          continue;
        }
        for (const { key } of missing) this.#givenUp.add(key);
        this.#decide();
      }
      waitsFor = 0;
      if (next < 0) continue;
      this.#options.settle(this.#queue.splice(next, 1)[0]!);
      await eventLoopTurn();
    }
    this.#decide();
    this.busy = false;
    this.#options.settled();
  }

  /** Records that are waited for: those before the next one to deliver, or in doubt all that the loop was built with. */
  #missing(next: number): Delivered[] {
    if (next < 0 && !this.#doubt) return [];
    const before =
      next < 0
        ? this.#queue.filter((record) => this.#isSkipped(record, this.#built))
        : this.#queue.slice(0, next);
    return before.filter(({ key }) => !this.#givenUp.has(key));
  }

  /** What the loop had not asked for when it asked for something new, it has by now, or never will. */
  #decide(): void {
    if (!this.#doubt) return;
    // Answers that came since this loop was built were asked by it, or no code asks for them any more.
    if (this.#skips(this.#built)) {
      this.#changed = true;
      this.#changedAt = this.#builtWith;
      this.divergedAt = this.#builtWith;
    }
    this.#undecided.clear();
    this.#doubt.resolve();
    this.#doubt = undefined;
  }
}

function answerJson({ value, failure }: Delivered): string {
  return JSON.stringify([value ?? null, failure ?? null]);
}

function rerunKey(key: string, rerun: number): string {
  return rerun === 0 ? key : `${key}~${rerun}`;
}
