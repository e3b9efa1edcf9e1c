import type { Restart, RunCarry } from '../protocol/advance.ts';
import type { StepRecord } from '../protocol/step.ts';
import type { RunUsage, Spent } from '../protocol/usage.ts';
import { addSpent, nothingSpent, spentOn } from './spent.ts';

/** Restarts of which more is kept than their number. */
const KEPT_RESTARTS = 20;

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
  #children: Spent;
  #replayed: RunUsage['replayed'];
  /** The last restarts, of which it is known which records they gave again. */
  #lastRestarts: Restart[];

  constructor(records: { readonly list: readonly StepRecord[] }, carry: Partial<RunCarry> = {}) {
    this.#records = records;
    this.paidBefore = carry.paidBefore ?? 0;
    this.#before = spentOn(records.list.slice(0, this.paidBefore));
    this.#children = carry.children ?? nothingSpent();
    const { last = [], ...sums } = carry.replayed ?? { ...nothingSpent(), restarts: 0 };
    this.#replayed = { ms: 0, ...sums };
    this.#lastRestarts = last;
  }

  /** A loop was built again, and given records. Not by the first that a run builds, which has none. */
  replayed(restart: Restart): void {
    const { records, ms } = restart;
    if (records === 0) return;
    const { restarts, ms: before } = this.#replayed;
    const spent = addSpent(this.#replayed, spentOn(this.#records.list.slice(0, records)));
    this.#replayed = { ...spent, restarts: restarts + 1, ms: before + ms };
    this.#lastRestarts = [...this.#lastRestarts, restart].slice(-KEPT_RESTARTS);
  }

  /** How many of the last restarts gave the record of this number again. */
  timesReplayed(no: number): number {
    return this.#lastRestarts.filter(({ records }) => no < records).length;
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

  /** All that this run and those below it took, as the one above is told. */
  get all(): Spent {
    this.#count();
    return addSpent(addSpent(this.#own, this.#lost), this.#children);
  }

  #count(): void {
    const { list } = this.#records;
    const more = list.slice(this.#counted);
    const mine = list.slice(Math.max(this.#counted, this.paidBefore));
    this.#counted = list.length;
    this.#own = addSpent(this.#own, spentOn(mine));
    this.#lost = addSpent(this.#lost, spentOn(mine, timesLost));
    for (const { cached } of more) {
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
