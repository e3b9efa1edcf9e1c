/** What a run starts with: nothing, what the run before it had, or what another run has. */
import type { Nesting, RunCarry, RunOrigin } from '../src/protocol/advance.ts';
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
  if (lists.every(Array.isArray) && named && isNesting(nesting) && isUnread(from)) return from;
  const message =
    'The second argument of an agent is set by continue-as-new, resume, fork and agents that start it alone.';
  throw applicationFailure({ name: 'DeclarationError', message });
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNesting(nesting: unknown): boolean {
  if (nesting === undefined) return true;
  const { path, idempotencyKey = '', retries = 0 } = (nesting ?? {}) as Partial<Nesting>;
  return isText(path) && isText(idempotencyKey) && typeof retries === 'number';
}

function isUnread(from: RunCarry | RunOrigin): boolean {
  const { labels = [], inbox = [] } = from as Partial<RunCarry>;
  const named = Array.isArray(labels) && labels.every((label) => Array.isArray(label) && label.every(isText));
  return (
    named && Array.isArray(inbox) && inbox.every((each) => isText(each?.text) && typeof each.at === 'number')
  );
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
  // Whoever resumes a child by itself is not its parent.
  const placed = nesting ?? (before && { ...before, path: '' });
  // A fork may have an input of its own.
  return [input ?? inputBefore, { ...kept, ...given, ...(placed && { nesting: placed }) }];
}
