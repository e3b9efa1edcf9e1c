/** Numbers as people read them: without a locale, which a workflow has none of. */

/** With commas between thousands. */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** US dollars, with cents, or what is less than a dollar to a hundredth of a cent. */
export function dollars(usd: number): string {
  return usd.toFixed(usd >= 1 ? 2 : 4);
}

/** @param ms milliseconds */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 2 * 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 48 * 3_600_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  return `${(ms / 86_400_000).toFixed(1)} days`;
}
