/** Values of several subjects, round by round. */
import type { Series } from './report.ts';

/** Collects one value a round for each label, in the order in which the labels came first. */
export class Rounds {
  readonly #values = new Map<string, number[]>();

  add(label: string, value: number): void {
    const values = this.#values.get(label);
    if (values) values.push(value);
    else this.#values.set(label, [value]);
  }

  series(): Series[] {
    return [...this.#values].map(([label, values]) => ({ label, values }));
  }
}
