/** Reads what a run and the runs below it say of themselves, page by page. */
import { type Client, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { RunNotFoundError } from '../errors/index.ts';
import type { ReportPage, ReportStep, RunReport } from '../protocol/report.ts';
import { report } from '../protocol/signals.ts';
import { LARGEST_PAGE } from '../records/run-report.ts';
import { whyUnread } from './why-unread.ts';

/** A run with the runs below it. */
export interface RunTree {
  report: RunReport;
  /** As Temporal has it: `RUNNING`, `COMPLETED`, … */
  status: string;
  /** With what it ended, if not with an answer. */
  ended?: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  closedAt?: number;
  namespace: string;
  children: RunTree[];
  /** Children that could not be read, and why. */
  unread: { workflowId: string; why: string }[];
}

export interface CollectOptions {
  /** One run of the workflow id. @default the last */
  runId?: string | undefined;
  /** How long each query may take, in milliseconds. @default 20,000 */
  timeoutMs?: number | undefined;
  /** Hears of each page that was read. */
  onPage?: (page: RunReport) => void;
}

/** Runs that are read at once. */
const AT_ONCE = 8;
const TIMEOUT_MS = 20_000;

/**
 * The report of a run, with all its steps, and those of the runs below it. Needs a worker, as queries do.
 * @throws RunNotFoundError if the server does not know the run; an error that says what to do, if no worker answers
 */
export async function collectReport(
  client: Client,
  workflowId: string,
  options: CollectOptions = {},
): Promise<RunTree> {
  const inTurn = atOnce(AT_ONCE);
  const collect = async (id: string, runId?: string): Promise<RunTree> => {
    const own = await inTurn(async () => await readRun(client, id, { ...options, runId }));
    const { steps, inFlight } = own.report;
    const ids = new Set([...steps, ...inFlight].flatMap(({ child }) => child ?? []));
    const below = await Promise.all(
      [...ids].map((child) =>
        collect(child).catch((error: Error) => ({ workflowId: child, why: error.message })),
      ),
    );
    return {
      ...own,
      children: below.filter((each) => 'report' in each),
      unread: below.filter((each) => 'why' in each),
    };
  };
  return await collect(workflowId, options.runId);
}

async function readRun(
  client: Client,
  workflowId: string,
  { runId, timeoutMs = TIMEOUT_MS, onPage }: CollectOptions,
): Promise<Omit<RunTree, 'children' | 'unread'>> {
  const { namespace } = client.options;
  const handle = client.workflow.getHandle(workflowId, runId);
  const description = await handle.describe().catch((error: Error) => {
    const which = runId === undefined ? `workflow ${workflowId}` : `run ${runId} of workflow ${workflowId}`;
    if (error.name === 'WorkflowNotFoundError')
      throw new RunNotFoundError(`The server knows no ${which} in namespace ${namespace}.`);
    const { details = error.message } = (error.cause ?? {}) as { details?: string };
    throw new Error(`Cannot read ${which}: ${details}.`, { cause: error });
  });
  // Of this very run, should another begin meanwhile.
  const run = client.workflow.getHandle(workflowId, description.runId, { followRuns: false });
  const query = async (page: ReportPage) => {
    try {
      const read = await client.withDeadline(
        Date.now() + timeoutMs,
        async () => await run.query(report, page),
      );
      onPage?.(read);
      return read;
    } catch (error) {
      throw whyUnread(error, description, timeoutMs);
    }
  };
  const first = await query({ limit: LARGEST_PAGE });
  const steps: ReportStep[] = [...first.steps];
  while (steps.length < first.total) {
    const next = await query({ from: steps.length, limit: LARGEST_PAGE });
    if (next.steps.length === 0) break;
    steps.push(...next.steps);
  }
  const { status, startTime, closeTime } = description;
  const ended = closeTime && status.name !== 'COMPLETED' ? await endOf(run) : undefined;
  return {
    report: { ...first, steps },
    status: status.name,
    ...(ended !== undefined && { ended }),
    startedAt: startTime.getTime(),
    ...(closeTime && { closedAt: closeTime.getTime() }),
    namespace,
  };
}

async function endOf(run: WorkflowHandle): Promise<string | undefined> {
  try {
    await run.result();
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) return undefined;
    const { message, type } = (error.cause ?? {}) as { message?: string; type?: string };
    return [type, message].filter(Boolean).join(': ');
  }
}

/** Lets so many work at once; the others wait. */
function atOnce(limit: number) {
  const waiting: (() => void)[] = [];
  let working = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (working >= limit) await new Promise<void>((resolve) => void waiting.push(resolve));
    else working++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else working--;
    }
  };
}
