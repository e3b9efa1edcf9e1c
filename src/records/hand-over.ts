/** What a run that goes on from another one starts with. */
import type { RunCarry } from '../protocol/advance.ts';
import type { StepRecord } from '../protocol/step.ts';

/**
 * For a run that goes on where another failed or was cancelled: all its answers, but for the failures that came after the
 * last success. A key that was mended must not meet its old 401 again; failures that the loop survived stay.
 */
export function resumedCarry(carry: RunCarry): RunCarry {
  const { divergedAt, ...rest } = carry;
  const lastSuccess = carry.records.findLastIndex(({ failure }) => !failure);
  const records = carry.records.slice(0, lastSuccess + 1);
  const dropped = carry.records.slice(lastSuccess + 1).map(({ key }) => key);
  return {
    ...rest,
    records,
    open: [...carry.open, ...dropped.map((key): [string, boolean] => [key, false])],
    losses: [],
    agentFailures: 0,
    ...(divergedAt !== undefined && divergedAt <= records.length && { divergedAt }),
  };
}

/**
 * For a run of its own that begins with the first answers of another: nothing that came later is known, and what it does
 * is new, so that its tools have idempotency keys of their own.
 * @param keep how many answers it begins with
 */
export function forkedCarry(carry: RunCarry, keep: number, chain: string): RunCarry {
  const records: StepRecord[] = carry.records.slice(0, keep);
  const kept = new Set(records.map(({ key }) => key));
  const asked = carry.approvals.asked
    .filter(([key]) => kept.has(key.split('?')[0]!))
    .map(([key, { id, decision, answer }]): (typeof carry.approvals.asked)[number] => [
      key,
      { id, ...(decision && { decision }), ...(answer && { answer }) },
    ]);
  const { divergedAt } = carry;
  return {
    version: 1,
    records,
    chain,
    approvals: { minted: mintedFor(asked.map(([, { id }]) => id)), asked },
    losses: [],
    sleeps: [],
    open: [],
    agentFailures: 0,
    pinned: records.length,
    ...(divergedAt !== undefined && divergedAt <= records.length && { divergedAt }),
    ...(carry.asksEffects && { asksEffects: true as const }),
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
