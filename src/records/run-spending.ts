import type { RunCarry } from '../protocol/advance.ts';
import type { StepRecord } from '../protocol/step.ts';
import type { RunUsage, Spent } from '../protocol/usage.ts';
import { addSpent, nothingSpent, spentOn } from './spent.ts';

/** Restarts of which more is kept than their number. */
const KEPT_RESTARTS = 20;

const SHOWN_MISSES = 3;

/** What there is among the records, counted as they come: a run may have thousands, and is described at each step. */
export interface RecordCounts {
  turns: number;
  tools: number;
  /** The last turns that changed code asked anew. */
  missed: readonly StepRecord[];
}

/** What a run has spent, beside what its records say: its children, and what restarts did not spend again. */
export class RunSpending {
  readonly #records: { readonly list: readonly StepRecord[] };
  /** How many of the records the run that this one resumes or forks had paid. */
  readonly paidBefore: number;
  readonly #before: Spent;
  /** Sums over the records up to this one: a run looks at them at each step, and may have thousands. */
  #counted = 0;
  #own = nothingSpent();
  #lost = nothingSpent();
  #cached = { calls: 0, durationMs: 0 };
  readonly #counts: RecordCounts = { turns: 0, tools: 0, missed: [] };
  #children: Spent;
  #replayed: RunUsage['replayed'];
  /** How many records the last restarts gave again. */
  #lastRestarts: number[];

  constructor(records: { readonly list: readonly StepRecord[] }, carry: Partial<RunCarry> = {}) {
    this.#records = records;
    this.paidBefore = carry.paidBefore ?? 0;
    this.#before = spentOn(records.list.slice(0, this.paidBefore));
    this.#children = carry.children ?? nothingSpent();
    const { last, ...sums } = carry.replayed ?? { ...nothingSpent(), restarts: 0, ms: 0, last: [] };
    this.#replayed = sums;
    this.#lastRestarts = last;
  }

  /** A loop was built again, and given records. Not by the first that a run builds, which has none. */
  replayed(records: number, ms: number): void {
    if (records === 0) return;
    const { restarts, ms: before } = this.#replayed;
    const spent = addSpent(this.#replayed, spentOn(this.#records.list.slice(0, records)));
    this.#replayed = { ...spent, restarts: restarts + 1, ms: before + ms };
    this.#lastRestarts = [...this.#lastRestarts, records].slice(-KEPT_RESTARTS);
  }

  /** How many of the last restarts gave the record of this number again. */
  timesReplayed(no: number): number {
    return this.#lastRestarts.filter((records) => no < records).length;
  }

  /** A child is over. */
  childSpent(spent: Spent): void {
    this.#children = addSpent(this.#children, spent);
  }

  usage(priceTable: string | undefined): RunUsage {
    this.#count();
    return {
      own: this.#own,
      children: this.#children,
      lost: this.#lost,
      replayed: this.#replayed,
      before: this.#before,
      cached: this.#cached,
      ...(priceTable !== undefined && { priceTable }),
    };
  }

  /** How many answers there are of each kind, those from before this run included. */
  get counts(): Readonly<RecordCounts> {
    this.#count();
    return this.#counts;
  }

  /** All that this run and those below it took, as the one above is told. */
  get all(): Spent {
    this.#count();
    return addSpent(addSpent(this.#own, this.#lost), this.#children);
  }

  #count(): void {
    const { list } = this.#records;
    if (this.#counted === list.length) return;
    const more = list.slice(this.#counted);
    const mine = list.slice(Math.max(this.#counted, this.paidBefore));
    this.#counted = list.length;
    this.#own = addSpent(this.#own, spentOn(mine));
    this.#lost = addSpent(this.#lost, spentOn(mine, timesLost));
    for (const record of more) {
      const { kind, cached, missed } = record;
      if (kind === 'turn') this.#counts.turns++;
      if (kind === 'tool') this.#counts.tools++;
      if (missed) this.#counts.missed = [...this.#counts.missed, record].slice(-SHOWN_MISSES);
      if (!cached) continue;
      const { calls, durationMs } = this.#cached;
      this.#cached = { calls: calls + 1, durationMs: durationMs + cached.durationMs };
    }
  }

  carry(): Pick<RunCarry, 'paidBefore' | 'children' | 'replayed'> {
    return {
      ...(this.paidBefore > 0 && { paidBefore: this.paidBefore }),
      ...(this.#children.turns > 0 && { children: this.#children }),
      ...(this.#replayed.restarts > 0 && {
        replayed: { ...this.#replayed, last: this.#lastRestarts },
      }),
    };
  }
}

function timesLost({ lost = 0 }: StepRecord): number {
  return lost;
}
