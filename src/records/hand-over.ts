/** What a run that goes on from another one starts with. */
import type { RunCarry } from '../protocol/advance.ts';
import { BUDGET_KEY } from '../protocol/names.ts';
import type { StepFailure, StepRecord } from '../protocol/step.ts';

/** What a run has that has begun nothing. */
export function noCarry(chain: string): RunCarry {
  const approvals = { minted: [], asked: [] };
  return { version: 1, records: [], chain, approvals, losses: [], sleeps: [], open: [], agentFailures: 0 };
}

/**
 * For a run that goes on where another failed or was cancelled: all its answers, but for the failure it ended with and
 * those after the last success. A key that was mended must not meet its old 401 again; failures that the loop survived
 * stay. What may have had its effect is not started again just so, and nothing was decided by a time that nobody had.
 */
export function resumedCarry(carry: RunCarry): RunCarry {
  const { divergedAt, failure, replayed: _replayed, children: _children, budget: _budget, ...rest } = carry;
  const lastSuccess = carry.records.findLastIndex((record) => !record.failure);
  const ended = carry.records.findLastIndex((record) => failure && isSame(record.failure, failure));
  const isDropped = (index: number) => index > lastSuccess || index === ended;
  const records = carry.records.filter((_, index) => !isDropped(index));
  const dropped = carry.records.filter((_, index) => isDropped(index));
  const open = [...carry.open, ...dropped.map(({ key }): [string, boolean] => [key, false])];
  const uncertain = dropped.filter((record) => record.failure?.name === 'UncertainStepError');
  const underWay = [...(carry.underWay ?? []), ...uncertain.map(({ key }) => key)];
  return {
    ...rest,
    records,
    open,
    approvals: {
      ...carry.approvals,
      // Whether a budget is raised concerns the run that asked: this one has another.
      asked: carry.approvals.asked
        .filter(([key, { decision }]) => decision || !key.startsWith(`${BUDGET_KEY}?`))
        .map(askedAnew),
    },
    losses: [],
    agentFailures: 0,
    reopened: open.map(([key]) => key),
    paidBefore: records.length,
    ...(underWay.length > 0 && { underWay }),
    ...(carry.pinned !== undefined && { pinned: Math.min(carry.pinned, records.length) }),
    ...(divergedAt !== undefined && divergedAt <= records.length && { divergedAt }),
  };
}

type Asked = RunCarry['approvals']['asked'][number];

/** What still waits has its time from when it is asked again. */
function askedAnew([key, { open, ...rest }]: Asked): Asked {
  if (!open) return [key, rest];
  const { escalated: _escalated, ...asked } = rest;
  const { expiresAt: _expiresAt, ...shown } = open;
  return [key, { ...asked, open: { ...shown, askedAt: 0 } }];
}

function isSame(one: StepFailure | undefined, other: StepFailure): boolean {
  return one?.name === other.name && one.message === other.message;
}

/**
 * For a run of its own that begins with the first answers of another: nothing that came later is known, and what it does
 * is new, so that its tools have idempotency keys of their own.
 * @param keep how many answers it begins with
 */
export function forkedCarry(carry: RunCarry, keep: number): Omit<RunCarry, 'chain'> {
  const records: StepRecord[] = carry.records.slice(0, keep);
  const kept = new Set(records.map(({ key }) => key));
  const asked = carry.approvals.asked
    .filter(([key]) => kept.has(key.split('?')[0]!))
    .map(([key, { open: _open, ...decided }]): Asked => [key, decided]);
  const { divergedAt } = carry;
  const { chain: _chain, ...nothing } = noCarry('');
  return {
    ...nothing,
    records,
    approvals: { minted: mintedFor(asked.map(([, { id }]) => id)), asked },
    pinned: records.length,
    paidBefore: records.length,
    ...(divergedAt !== undefined && divergedAt <= records.length && { divergedAt }),
  };
}

/** The last number that was given out for each name. */
function mintedFor(ids: readonly string[]): [string, number][] {
  const minted = new Map<string, number>();
  for (const id of ids) {
    const [, name, n] = /^(.*)-(\d+)$/.exec(id) ?? [];
    if (name !== undefined) minted.set(name, Math.max(minted.get(name) ?? 0, Number(n)));
  }
  return [...minted];
}
