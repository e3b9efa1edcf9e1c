/** Text of models, tools and people as it is shown, in the page and in a terminal. */

import { withoutDirection } from '../records/direction.ts';

/** Text beyond which nothing is shown, in characters. */
const SHOWN_CHARS = 400;
/**
 * Text of a model, a tool or a person: at most so many characters, without what moves a cursor, turns the reading
 * direction around, or is no character.
 */
export function shown(text: string, limit = SHOWN_CHARS): string {
  const start = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return withoutDirection(start.toWellFormed()).replaceAll(/\p{Cc}/gu, (control) =>
    /\s/.test(control) ? ' ' : '␛',
  );
}
