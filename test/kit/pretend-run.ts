/** A run without Temporal: what the workflow does for its loop, by rules 2 and 5 of ARCHITECTURE.md, for tests of loops. */
import type { Advance, LoopEnd } from '../../src/protocol/advance.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/limits.ts';
import type { Step, StepRecord } from '../../src/protocol/step.ts';
import { Loop } from '../../src/loop/loop.ts';
import { recordWith } from './record.ts';

export type Body = (signal: AbortSignal) => Promise<unknown>;

export interface PretendRunOptions {
  /** What the run has from earlier loops. */
  records?: readonly StepRecord[];
  /** Keys of steps that were asked and have no record. */
  pending?: readonly string[];
  divergedAt?: number | undefined;
  /** Of a fork: so many records stand. */
  pinned?: number;
  /** Whether a worker serves a tool as an activity of its own. @default always */
  serves?: (tool: object) => boolean;
}

export class PretendRun {
  readonly records: StepRecord[];
  /** Steps that the run has started and not answered, by key. */
  readonly inFlight = new Map<string, Step>();
  divergedAt: number | undefined;
  /** Keys of the steps that were asked and have no record; true: since a loop with changed code left the recorded path. */
  readonly open = new Map<string, boolean>();
  /** How often the loop said that it has something and nobody waits. */
  told = 0;
  loop!: Loop;
  /** Every step that the present loop handed out, in order. */
  asked: Step[] = [];
  #from = 0;
  #seen = 0;
  #body: Body;
  #divergedEpoch = '';
  readonly #serves: (tool: object) => boolean;
  readonly #pinned: number | undefined;

  constructor(body: Body, options: PretendRunOptions = {}) {
    this.#body = body;
    this.#serves = options.serves ?? (() => true);
    this.#pinned = options.pinned;
    this.records = [...(options.records ?? [])];
    this.divergedAt = options.divergedAt;
    for (const key of options.pending ?? []) this.open.set(key, false);
    this.build();
  }

  /** Another loop, from the top, with all records. */
  build(body = this.#body): void {
    this.#from = 0;
    this.#seen = 0;
    this.asked = [];
    this.#body = body;
    this.loop = new Loop({
      runId: 'run',
      workflowId: 'workflow',
      agent: 'agent',
      chain: 'run',
      storage: { maxPayloadBytes: MAX_PAYLOAD_BYTES },
      pending: [...this.open.keys()],
      pendingChanged: [...this.open].filter(([, changed]) => changed).map(([key]) => key),
      divergedAt: this.divergedAt,
      pinned: this.#pinned,
      body: (loop) => this.#body(loop.abort.signal),
      ready: () => void this.told++,
      serves: this.#serves,
    });
    const wrong = this.loop.take(0, this.records, 0);
    if (wrong !== undefined) throw new Error(`A new loop did not take all records: ${wrong}`);
    this.#from = this.records.length;
    this.loop.start();
  }

  /** Gives the loop what was answered since, and starts what it asks. */
  async advance(patience = 20): Promise<Advance> {
    const wrong = this.loop.take(this.#from, this.records.slice(this.#from), this.#seen);
    if (wrong !== undefined) throw new Error(`The loop is not where the run is: ${wrong}`);
    this.#from = this.records.length;
    const { told } = this;
    const got = this.#note(await this.loop.next(this.#seen, patience));
    return this.told > told ? { ...got, ...(await this.advance(patience)) } : got;
  }

  /** Answers a step, its loop being told first: takes what it asks along with that, or else asks it. */
  async answerAhead(key: string, value: unknown): Promise<Advance> {
    const ahead = await this.loop.goAhead(key, () => value, 20);
    this.answer(key, value);
    if (ahead?.took?.records !== this.records.length) return await this.advance();
    this.#from = this.records.length;
    return this.#note(ahead);
  }

  #note(got: Advance): Advance {
    if (got.divergedAt !== undefined && this.#divergedEpoch !== this.loop.epoch) {
      this.divergedAt = got.divergedAt;
      this.#divergedEpoch = this.loop.epoch;
      for (const key of this.open.keys()) this.open.set(key, false);
    }
    for (const step of got.steps ?? []) {
      this.#seen = Math.max(this.#seen, step.no);
      this.asked.push(step);
      if (this.records.some(({ key }) => key === step.key)) continue;
      this.inFlight.set(step.key, step);
      if (!this.open.has(step.key)) this.open.set(step.key, this.divergedAt !== undefined);
    }
    return got;
  }

  /** Until the loop asks nothing more. */
  async settle(patience = 5): Promise<Advance> {
    for (;;) {
      const got = await this.advance(patience);
      if (!got.steps) return got;
    }
  }

  /** The `advance` of now once more, as after a lost workflow task. */
  redeliver(from: number): string | undefined {
    return this.loop.take(from, this.records.slice(from), this.#seen);
  }

  answer(key: string, value: unknown, failure?: StepRecord['failure']): void {
    const step = this.inFlight.get(key);
    if (!step) throw new Error(`Nothing with the key ${key} is in flight.`);
    const changedAt = this.open.get(key) ? this.divergedAt : undefined;
    this.inFlight.delete(key);
    this.open.delete(key);
    const { kind, name } = step;
    this.records.push(
      recordWith({
        key,
        kind,
        name,
        ...(failure ? { failure } : { value }),
        ...(changedAt !== undefined && { changedAt }),
      }),
    );
  }

  /** The names of the steps in flight. */
  get waitsFor(): string[] {
    return [...this.inFlight.values()].map(({ name }) => name);
  }

  /** Answers the first step in flight of that name, and lets the loop go on. */
  async answerTo(name: string, value: unknown = `${name}!`): Promise<Advance> {
    const step = [...this.inFlight.values()].find((candidate) => candidate.name === name);
    if (!step) throw new Error(`No step ${name} is in flight, but ${this.waitsFor.join(', ') || 'none'}.`);
    this.answer(step.key, value);
    return await this.advance();
  }
}

/** What an agent returned. @throws if it has not, or failed */
export function outputOf(end: LoopEnd | undefined): unknown {
  if (!end || end.failure) throw new Error(`The agent has no output, but ${JSON.stringify(end)}.`);
  return end.output;
}
