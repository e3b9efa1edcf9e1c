import type { RunCarry } from '../protocol/advance.ts';
import type { StepRecord } from '../protocol/step.ts';
import type { RunUsage, Spent } from '../protocol/usage.ts';
import { addSpent, nothingSpent, spentOn } from './spent.ts';

/** What a run has spent, beside what its records say: its children, and what restarts did not spend again. */
export class RunSpending {
  readonly #records: { readonly list: readonly StepRecord[] };
  /** How many of the records the run that this one resumes or forks had paid. */
  readonly paidBefore: number;
  #children: Spent;
  #replayed: Spent & { restarts: number };

  constructor(records: { readonly list: readonly StepRecord[] }, carry: Partial<RunCarry> = {}) {
    this.#records = records;
    this.paidBefore = carry.paidBefore ?? 0;
    this.#children = carry.children ?? nothingSpent();
    this.#replayed = carry.replayed ?? { ...nothingSpent(), restarts: 0 };
  }

  /** A loop was built again, and given so many records. */
  replayed(records: number): void {
    if (records === 0) return;
    const spent = addSpent(this.#replayed, spentOn(this.#records.list.slice(0, records)));
    this.#replayed = { ...spent, restarts: this.#replayed.restarts + 1 };
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
      ...(this.#replayed.restarts > 0 && { replayed: this.#replayed }),
    };
  }
}

function timesLost({ lost = 0 }: StepRecord): number {
  return lost;
}
