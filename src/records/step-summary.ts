import type { Step } from '../protocol/step.ts';
import { askedOf } from './run-report.ts';

/** The server takes 400 bytes, of whatever a codec makes of them. */
const MAX_BYTES = 120;

/** A step in a few words, for the timeline of Temporal's UI, which shows text as text. */
export function stepSummary(step: Step): string {
  const { name } = step;
  const { asked } = askedOf(step);
  const words = asked ? `${name}: ${asked}` : name;
  return cut(words.replaceAll(/[\s\p{Cc}]+/gu, ' '));
}

function cut(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_BYTES) return text;
  // What the cut left of a character is left out.
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_BYTES)).replace(/\ufffd+$/, '')}…`;
}
