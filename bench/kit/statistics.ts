/** Numbers of several rounds: their median, and how far they are spread. */

/** The one in the middle. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Ratios round by round: what was measured side by side is compared side by side. */
export function ratios(values: readonly number[], base: readonly number[]): number[] {
  return values.map((value, round) => value / base[round]!);
}

/** The median with what it is spread between: `3.1 (2.9 to 3.4)`. */
export function spread(values: readonly number[], show: (value: number) => string): string {
  if (values.length === 0) return '–';
  const text = show(median(values));
  const [least, most] = [show(Math.min(...values)), show(Math.max(...values))];
  return least === most ? text : `${text} (${least} to ${most})`;
}
