/** Words and numbers as a person reads them, in the page and in a terminal. */

/** Text beyond which nothing is shown, in characters. */
const SHOWN_CHARS = 400;
/** Characters that turn the reading direction around: marks, embeddings, overrides, isolates. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text of a model, a tool or a person: at most so many characters, without what moves a cursor, turns the reading
 * direction around, or is no character.
 */
export function shown(text: string, limit = SHOWN_CHARS): string {
  const start = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return start
    .toWellFormed()
    .replaceAll(DIRECTION, '')
    .replaceAll(/\p{Cc}/gu, (control) => (/\s/.test(control) ? ' ' : '␛'));
}

export function count(n: number): string {
  return Math.round(n).toLocaleString('en-US');
}

/** `1 turn`, `2 turns`. */
export function countOf(n: number, what: string): string {
  return `${count(n)} ${what}${n === 1 ? '' : 's'}`;
}

export function dollars(usd: number): string {
  if (usd > 0 && usd < 0.00005) return '<$0.0001';
  return `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;
}

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
