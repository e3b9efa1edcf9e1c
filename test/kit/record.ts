import type { StepRecord } from '../../src/protocol/step.ts';

/** A record of which only this matters. */
export function recordWith(what: Partial<StepRecord>): StepRecord {
  return { key: 'k', kind: 'turn', name: 'n', attempts: 1, askedAt: 0, answeredAt: 0, ...what };
}
