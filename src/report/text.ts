/** Text of models, tools and people as it is shown, in the page and in a terminal. */

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
