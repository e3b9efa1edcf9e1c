/** A page of what a run says of itself. */
import * as wf from '@temporalio/workflow';
import type { ReportPage, RunReport } from '../src/protocol/report.ts';
import type { Waiting } from '../src/protocol/signals.ts';
import type { Approvals } from '../src/records/approvals.ts';
import type { RunRecords } from '../src/records/run-records.ts';
import { LARGEST_PAGE, PAGE, reportSteps } from '../src/records/run-report.ts';
import type { RunSpending } from '../src/records/run-spending.ts';
import type { Doors } from './doors.ts';
import type { Steps } from './steps.ts';

export interface ReportedRun {
  records: RunRecords;
  approvals: Approvals;
  steps: Steps;
  doors: Doors;
  spending: RunSpending;
}

/** @param page from anybody, so it may be anything */
export function reportOf(run: ReportedRun, page: ReportPage = {}): RunReport {
  const { workflowType: agent, workflowId, runId } = wf.workflowInfo();
  const { list } = run.records;
  const { from, limit } = page ?? {};
  const first = Math.max(0, Math.trunc(from ?? 0) || 0);
  const many = Math.min(LARGEST_PAGE, Math.max(1, Math.trunc(limit ?? PAGE) || PAGE));
  const { spending, approvals } = run;
  const { divergedAt } = run.steps;
  return {
    agent,
    workflowId,
    runId,
    total: list.length,
    from: first,
    steps: reportSteps(list.slice(first, first + many), first, {
      workflowId,
      paidBefore: spending.paidBefore,
      divergedAt,
      timesReplayed: (no) => spending.timesReplayed(no),
      decidedAt: (key) => approvals.decision(key)?.at,
    }),
    inFlight: run.steps.list(),
    usage: run.doors.spent,
    waiting: withoutInputs(run.doors.waiting),
    decisions: run.doors.decisions.map(({ value: _value, arguments: _changed, ...decision }) => decision),
  };
}

function withoutInputs({ approvals, ...waiting }: Waiting): Waiting {
  return { ...waiting, approvals: approvals.map(({ input: _input, ...approval }) => approval) };
}
