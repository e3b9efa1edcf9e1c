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

/** The fields in which a request differs from the recorded one that is most like it; `undefined`: none is. */
export function changedFields(
  parts: Parts,
  name: string,
  records: readonly StepRecord[],
): string[] | undefined {
  const fields = fieldsOf(parts);
  let fewest: string[] | undefined;
  for (const record of records) {
    const { parts: packed } = record;
    if (record.kind !== 'turn' || record.name !== name || packed?.length !== fields.length * HASH_CHARS)
      continue;
    const changed = fields.filter(
      (field, i) => packed.slice(i * HASH_CHARS, (i + 1) * HASH_CHARS) !== parts[field]!.slice(0, HASH_CHARS),
    );
    if (changed.length > 0 && changed.length < (fewest?.length ?? fields.length)) fewest = changed;
  }
  return fewest;
}

function fieldsOf(parts: Parts): string[] {
  return Object.keys(parts).toSorted();
}
