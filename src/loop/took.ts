import type { Advance, AdvanceInput, Took } from '../protocol/advance.ts';

/** What an answer takes account of: the counts that the run sent. */
export function took(
  { from, records, pokes, acts, messages, settled, facts, cancel }: AdvanceInput,
  built?: Advance['built'],
): Took {
  const had = from + records.length;
  return {
    ...(had > 0 && { records: had }),
    ...(pokes > 0 && { pokes }),
    ...(acts > 0 && { acts }),
    ...(messages && { messages }),
    ...(settled !== undefined && { settled }),
    ...(facts && (!built || built.settings?.searchAttributes) && { facts }),
    ...(cancel && { cancel }),
  };
}
