/** Where things are on the time of a run. */

/** A stretch of a run's time, in hundredths of it. */
export interface Stretch {
  left: number;
  width: number;
}

/** Times of the marks that a scale may have, in milliseconds. */
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const APART = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 20].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 20].map((n) => n * MINUTE),
  ...[1, 2, 4, 8, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000].map((n) => n * DAY),
];
/** More marks than these would run into each other. */
const MARKS = 6;
/** What is shorter could not be seen. Hundredths. */
const THINNEST = 0.3;
/** A stretch without anything under way is shown from so many milliseconds, and so much of the run. */
const GAP_MS = 1_000;
const GAP_PART = 0.02;

/** The time from the beginning of a run to its end, or to now. Milliseconds since the epoch. */
export class Timeline {
  readonly from: number;
  readonly ms: number;

  constructor(from: number, to: number) {
    this.from = from;
    this.ms = Math.max(1, to - from);
  }

  /** How far apart its marks are, in milliseconds. */
  get apart(): number {
    return APART.find((apart) => this.ms / apart <= MARKS) ?? this.ms;
  }

  /** Milliseconds after the beginning at which it has marks. */
  get marks(): number[] {
    return Array.from({ length: Math.floor(this.ms / this.apart) + 1 }, (_, n) => n * this.apart);
  }

  /** How far into it a moment is, in hundredths. */
  at(time: number): number {
    return Math.min(100, Math.max(0, ((time - this.from) / this.ms) * 100));
  }

  stretch(from: number, to: number): Stretch {
    const left = Math.min(this.at(from), 100 - THINNEST);
    return { left, width: Math.max(THINNEST, this.at(to) - left) };
  }

  /** The stretches in which none of these was under way, if they are long enough to be seen. @param busy by their beginning */
  gaps(busy: readonly { from: number; to: number }[]): { from: number; to: number }[] {
    const least = Math.max(GAP_MS, this.ms * GAP_PART);
    const end = this.from + this.ms;
    const gaps: { from: number; to: number }[] = [];
    let until = this.from;
    for (const { from, to } of [...busy, { from: end, to: end }]) {
      if (from - until >= least) gaps.push({ from: until, to: from });
      until = Math.max(until, to);
    }
    return gaps;
  }
}
