import type { StepRecord } from '../protocol/step.ts';

/** The ordered answers of one run. Answers are only ever added; the order is that in which the loop saw them. */
export class RunRecords {
  readonly list: StepRecord[];
  readonly #known: Set<string>;

  constructor(carried: StepRecord[] = []) {
    this.list = carried;
    this.#known = new Set(carried.map((record) => record.key));
  }

  get size(): number {
    return this.list.length;
  }

  has(key: string): boolean {
    return this.#known.has(key);
  }

  /** Adds an answer; the first answer to a key stands. */
  add(record: StepRecord): boolean {
    if (this.#known.has(record.key)) return false;
    this.#known.add(record.key);
    this.list.push(record);
    return true;
  }

  since(from: number): StepRecord[] {
    return this.list.slice(from);
  }
}

/** The record with the largest answer, to name it when records together are too large. */
export function largestRecord(
  records: readonly StepRecord[],
): { record: StepRecord; bytes: number } | undefined {
  let largest: { record: StepRecord; bytes: number } | undefined;
  for (const record of records) {
    const bytes = jsonBytes(record);
    if (!largest || bytes > largest.bytes) largest = { record, bytes };
  }
  return largest;
}

/** Bytes of a value as UTF-8 JSON; `undefined` has none. */
export function jsonBytes(value: unknown): number {
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? 0 : new TextEncoder().encode(json).length;
}
