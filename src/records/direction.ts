/** Characters that turn the reading direction around, and are not shown: marks, embeddings, overrides, isolates. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text that is read in the direction of what is around it. */
export function withoutDirection(text: string): string {
  return text.replaceAll(DIRECTION, '');
}
