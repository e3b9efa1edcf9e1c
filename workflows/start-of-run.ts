/** What a run starts with: nothing, what the run before it had, or what another run has. */
import type { RunCarry, RunOrigin } from '../src/protocol/advance.ts';
import { applicationFailure } from './failures.ts';
import { readRun } from './read-run.ts';

/** Whoever starts a run can give it a second argument; one that is no such thing ends the run, not each of its tasks. */
export function wellFormed(from: RunCarry | RunOrigin): RunCarry | RunOrigin {
  const { nesting } = from;
  const lists =
    'records' in from
      ? [
          from.records,
          from.open,
          from.losses,
          from.sleeps,
          from.approvals?.asked,
          from.labels ?? [],
          from.inbox ?? [],
        ]
      : [];
  const other = 'from' in from ? from.from : undefined;
  const named = other === undefined || (isText(other?.workflowId) && isText(other.runId));
  const placed = nesting === undefined || (isText(nesting?.path) && isTextOrNot(nesting.idempotencyKey));
  if (lists.every(Array.isArray) && named && placed) return from;
  const message =
    'The second argument of an agent is set by continue-as-new, resume, fork and agents that start it alone.';
  throw applicationFailure({ name: 'DeclarationError', message });
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrNot(value: unknown): boolean {
  return value === undefined || isText(value);
}

/** The input and the records a run starts with. */
export async function startOf(
  input: unknown,
  from: RunCarry | RunOrigin | undefined,
): Promise<[unknown, Partial<RunCarry> | undefined]> {
  if (!from || 'records' in from) return [input, from];
  const { asksEffects, nesting } = from;
  const given = { ...(asksEffects && { asksEffects }), ...(nesting && { nesting }) };
  if (!from.from) return [input, given];
  const { input: before, carry } = await readRun(from.from);
  const { nesting: _ofBefore, ...kept } = carry;
  // A fork may have an input of its own.
  return [input ?? before, { ...kept, ...given }];
}
