/** Numbers as people read them: without a locale, which a workflow has none of. */

/** With commas between thousands. */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 turn`, `2 turns`. */
export function countOf(n: number, what: string): string {
  return `${count(n)} ${what}${n === 1 ? '' : 's'}`;
}

/** US dollars, with cents, or what is less than a dollar to a hundredth of a cent. */
export function dollars(usd: number): string {
  if (usd > 0 && usd < 0.00005) return '<$0.0001';
  return `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;
}

/** @param ms milliseconds */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${(ms / 60_000).toFixed(1)} min`;
  if (ms < 48 * 3_600_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  return `${(ms / 86_400_000).toFixed(1)} days`;
}

/** A duration that is a whole number of its unit: `500 ms`, `5 s`, `2 min`. */
export function roundDuration(ms: number): string {
  return duration(ms).replace('.0 ', ' ');
}
