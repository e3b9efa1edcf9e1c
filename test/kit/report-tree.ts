/** What a run says of itself, without a run. */
import type { ReportStep } from '../../src/protocol/report.ts';
import { nothingSpent } from '../../src/records/spent.ts';
import type { RunTree } from '../../src/report/collect.ts';

/** A step that was asked 1 s after the beginning, and took another. */
export function reportStep(more: Partial<ReportStep> = {}): ReportStep {
  return {
    no: 0,
    key: 'k',
    kind: 'tool',
    name: 'look',
    askedAt: 1_000,
    answeredAt: 2_000,
    attempts: 1,
    bytes: 2,
    ...more,
  };
}

/** A run of 10 s that is over. */
export function runTree(
  steps: ReportStep[],
  more: Partial<RunTree> = {},
  report: Partial<RunTree['report']> = {},
): RunTree {
  return {
    report: {
      agent: 'explorer',
      workflowId: 'w',
      runId: 'r',
      total: steps.length,
      from: 0,
      steps,
      inFlight: [],
      usage: {
        own: { turns: 1, usage: { input: 1_000, output: 10 }, usd: 1, unpriced: [] },
        children: nothingSpent(),
        lost: nothingSpent(),
        replayed: { ...nothingSpent(), restarts: 0, ms: 0 },
        before: nothingSpent(),
        cached: { calls: 0, durationMs: 0 },
      },
      waiting: { approvals: [], questions: [], refused: [] },
      decisions: [],
      ...report,
    },
    status: 'COMPLETED',
    startedAt: 0,
    closedAt: 10_000,
    namespace: 'default',
    children: [],
    unread: [],
    ...more,
  };
}
