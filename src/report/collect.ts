/** Reads what a run and the runs below it say of themselves, page by page. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { RunNotFoundError } from '../errors/index.ts';
import type { ReportStep, RunReport } from '../protocol/report.ts';
import { report } from '../protocol/signals.ts';

/** A run with the runs below it. */
export interface RunTree {
  report: RunReport;
  /** As Temporal has it: `RUNNING`, `COMPLETED`, … */
  status: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  closedAt?: number;
  namespace: string;
  children: RunTree[];
  /** Children that could not be read, and why. */
  unread: { workflowId: string; why: string }[];
}

const PAGE = 1_000;

/**
 * The report of a run, with all its steps, and those of the runs below it. Needs a worker, as queries do.
 * @throws RunNotFoundError if the server does not know the run; what the query throws, if no worker answers
 */
export async function collectReport(client: Client, workflowId: string, runId?: string): Promise<RunTree> {
  const handle = client.workflow.getHandle(workflowId, runId);
  let description: WorkflowExecutionDescription;
  try {
    description = await handle.describe();
  } catch (error) {
    if ((error as Error).name !== 'WorkflowNotFoundError') throw error;
    const { namespace } = client.options;
    throw new RunNotFoundError(`The server knows no workflow ${workflowId} in namespace ${namespace}.`);
  }
  const first = await handle.query(report, { limit: PAGE });
  const steps: ReportStep[] = [...first.steps];
  while (steps.length < first.total) {
    const next = await handle.query(report, { from: steps.length, limit: PAGE });
    if (next.steps.length === 0) break;
    steps.push(...next.steps);
  }
  const ids = [...steps, ...first.inFlight].flatMap(({ child }) => child ?? []);
  const children: RunTree[] = [];
  const unread: RunTree['unread'] = [];
  for (const child of new Set(ids)) {
    try {
      children.push(await collectReport(client, child));
    } catch (error) {
      unread.push({ workflowId: child, why: (error as Error).message });
    }
  }
  return {
    report: { ...first, steps },
    status: description.status.name,
    startedAt: description.startTime.getTime(),
    ...(description.closeTime && { closedAt: description.closeTime.getTime() }),
    namespace: client.options.namespace,
    children,
    unread,
  };
}
