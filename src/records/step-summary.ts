import type { Step } from '../protocol/step.ts';
import { withoutDirection } from './direction.ts';
import { askedOf } from './run-report.ts';

/** The server takes 400 bytes, of whatever a codec makes of them. */
const MAX_BYTES = 120;

/**
 * A step in a few words, for the timeline of Temporal's UI, and for the summary of a child, which that renders as markdown:
 * without what would be markdown, a link or HTML.
 */
export function stepSummary(step: Step): string {
  const { name } = step;
  const { asked } = askedOf(step);
  const words = asked ? `${name}: ${asked}` : name;
  return cut(inert(words)).trim();
}

function inert(text: string): string {
  return withoutDirection(text)
    .replaceAll(/:\/\/|\bwww\.|[\\`*[\]()#+!|<>~&@]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/giu, ' ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ');
}

function cut(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_BYTES) return text;
  // What the cut left of a character is left out.
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_BYTES)).replace(/\ufffd+$/, '')}…`;
}
