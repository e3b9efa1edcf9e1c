/** Why a turn was asked anew after the agent's code changed: which fields of its request are others. */
import type { StepRecord } from '../protocol/step.ts';

/** Enough to tell that two differ, for an explanation. */
const HASH_CHARS = 4;

type Parts = Readonly<Record<string, string>>;

/** The hashes of a request's fields as a record keeps them: in the order of the fields' names, which a later one has too. */
export function packParts(parts: Parts): string {
  return fieldsOf(parts)
    .map((field) => parts[field]!.slice(0, HASH_CHARS))
    .join('');
}

/**
 * The recorded turn that a request takes the place of, which is the first of those most like it, and the fields that are
 * others. `undefined`: none is of this shape.
 */
export function replacedTurn<Recorded extends Pick<StepRecord, 'parts'>>(
  parts: Parts,
  recorded: readonly Recorded[],
): { record: Recorded; changed: string[] } | undefined {
  const fields = fieldsOf(parts);
  let found: { record: Recorded; changed: string[] } | undefined;
  for (const record of recorded) {
    const { parts: packed } = record;
    if (packed?.length !== fields.length * HASH_CHARS) continue;
    const changed = fields.filter(
      (field, i) => packed.slice(i * HASH_CHARS, (i + 1) * HASH_CHARS) !== parts[field]!.slice(0, HASH_CHARS),
    );
    if (changed.length < (found?.changed.length ?? Infinity)) found = { record, changed };
  }
  return found;
}

function fieldsOf(parts: Parts): string[] {
  return Object.keys(parts).toSorted();
}
