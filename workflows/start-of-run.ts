/** What a run starts with: nothing, what the run before it had, or what another run has. */
import type { RunCarry, RunOrigin } from '../src/protocol/advance.ts';
import { CARRY_SCHEMA, ORIGIN_SCHEMA } from '../src/records/carry-schema.ts';
import { whyNotFits } from '../src/records/fits-schema.ts';
import { applicationFailure } from './failures.ts';
import { readRun } from './read-run.ts';

/** Whoever starts a run can give it a second argument; one that is no such thing ends the run, not each of its tasks. */
export function wellFormed(from: RunCarry | RunOrigin): RunCarry | RunOrigin {
  const why = whyNotFits('records' in from ? CARRY_SCHEMA : ORIGIN_SCHEMA, from);
  if (why === undefined) return from;
  const set = 'continue-as-new, resume, fork and the run whose child it is';
  const message = `The second argument of an agent is set by ${set} alone: ${why}`;
  throw applicationFailure({ name: 'DeclarationError', message });
}

/** The input and the records a run starts with. */
export async function startOf(
  input: unknown,
  from: RunCarry | RunOrigin | undefined,
): Promise<[unknown, Partial<RunCarry> | undefined]> {
  if (!from || 'records' in from) return [input, from];
  const { asksEffects, nesting } = from;
  const given = asksEffects && { asksEffects };
  if (!from.from) return [input, { ...given, ...(nesting && { nesting }) }];
  const { input: inputBefore, carry } = await readRun(from.from);
  const { nesting: before, ...kept } = carry;
  // Whoever resumes a child by itself is not its parent, and has no budget to share.
  const { allowance: _allowance, ...place } = before ?? {};
  const placed = nesting ?? (before && { ...place, path: '' });
  // A fork may have an input of its own.
  return [input ?? inputBefore, { ...kept, ...given, ...(placed && { nesting: placed }) }];
}
