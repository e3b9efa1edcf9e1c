import type { Approvals } from '../../src/records/approvals.ts';
import { readDecision } from '../../src/records/refusals.ts';

/** What a run does with a signal about its own approvals. Answers why it was refused. */
export function decide(
  approvals: Approvals,
  signal: string,
  payload: unknown,
  at: number,
): string | undefined {
  const sent = readDecision(signal, payload);
  const taken = 'code' in sent ? approvals.withIds(sent) : approvals.take(sent, at);
  if (!('code' in taken)) return undefined;
  approvals.refuse(signal, taken.reason, at);
  return taken.reason;
}
