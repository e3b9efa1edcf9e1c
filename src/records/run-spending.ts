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
  #children: Spent;
  #replayed: RunUsage['replayed'];
  /** The last restarts, of which it is known which records they gave again. */
  #lastRestarts: Restart[];

  constructor(records: { readonly list: readonly StepRecord[] }, carry: Partial<RunCarry> = {}) {
    this.#records = records;
    this.paidBefore = carry.paidBefore ?? 0;
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
    const mine = this.#records.list.slice(this.paidBefore);
    const calls = this.#records.list.flatMap(({ cached }) => cached ?? []);
    return {
      own: spentOn(mine),
      children: this.#children,
      lost: spentOn(mine, timesLost),
      replayed: this.#replayed,
      before: spentOn(this.#records.list.slice(0, this.paidBefore)),
      cached: { calls: calls.length, durationMs: calls.reduce((sum, { durationMs }) => sum + durationMs, 0) },
      ...(priceTable !== undefined && { priceTable }),
    };
  }

  /** All that this run and those below it took, as the one above is told. */
  get all(): Spent {
    const mine = this.#records.list.slice(this.paidBefore);
    return addSpent(addSpent(spentOn(mine), spentOn(mine, timesLost)), this.#children);
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
