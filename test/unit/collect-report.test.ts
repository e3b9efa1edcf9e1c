/** Reading a run and those below it, from a server that says what a test has it say. */
import { expect, test } from '@jest/globals';
import { type Client, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { ReportPage, ReportStep, RunReport } from '../../src/protocol/report.ts';
import { collectReport } from '../../src/report/collect.ts';
import { reportStep, runTree } from '../kit/report-tree.ts';

interface Server {
  /** The steps of each workflow id; or what asking for them comes to. */
  runs: Record<string, ReportStep[] | Error>;
  /** How many steps of a page it gives, whatever is asked. */
  atMost?: number;
}

function clientOf({ runs, atMost = Infinity }: Server) {
  const seen = { asked: [] as (ReportPage & { id: string })[], atOnce: 0 };
  let now = 0;
  const handleOf = (workflowId: string, runId = 'r') => ({
    describe: async () => {
      seen.atOnce = Math.max(seen.atOnce, ++now);
      if (!runs[workflowId]) throw new WorkflowNotFoundError('no', workflowId, runId);
      const startTime = new Date(0);
      return { workflowId, runId, type: 'explorer', taskQueue: 'q', status: { name: 'RUNNING' }, startTime };
    },
    query: async (_name: unknown, page: ReportPage): Promise<RunReport> => {
      seen.asked.push({ id: workflowId, ...page });
      await new Promise((resolve) => setImmediate(resolve));
      const steps = runs[workflowId]!;
      const { from = 0, limit = 0 } = page;
      const isLast = steps instanceof Error || from + Math.min(limit, atMost) >= steps.length;
      if (isLast) now--;
      if (steps instanceof Error) throw steps;
      const some = steps.slice(from, from + Math.min(limit, atMost));
      return { ...runTree(some).report, workflowId, total: steps.length, from };
    },
  });
  const client = {
    options: { namespace: 'default' },
    workflow: { getHandle: handleOf },
    withDeadline: async (_at: number, work: () => Promise<unknown>) => await work(),
  };
  return { client: client as unknown as Client, seen };
}

const steps = (count: number): ReportStep[] => Array.from({ length: count }, (_, no) => reportStep({ no }));

test('all pages of a run are read, also those that are shorter than asked', async () => {
  const { client, seen } = clientOf({ runs: { w: steps(2_500) }, atMost: 700 });
  const { report } = await collectReport(client, 'w');
  expect(report.steps.map(({ no }) => no)).toEqual(Array.from({ length: 2_500 }, (_, no) => no));
  expect(seen.asked.map(({ from = 0 }) => from)).toEqual([0, 700, 1_400, 2_100]);
});

test('children are read eight at once, of any depth', async () => {
  const child = (n: string) => reportStep({ kind: 'agent', child: n });
  const ids = Array.from({ length: 30 }, (_, n) => `w/${n}`);
  const below = Object.fromEntries(ids.map((id) => [id, [child(`${id}/x`), child(`${id}/y`)]]));
  const lowest = Object.fromEntries(ids.flatMap((id) => [`${id}/x`, `${id}/y`]).map((id) => [id, steps(2)]));
  const { client, seen } = clientOf({ runs: { w: ids.map(child), ...below, ...lowest } });
  const tree = await collectReport(client, 'w');
  expect(tree.children.map(({ report }) => report.workflowId)).toEqual(ids);
  expect(tree.children.every(({ children }) => children.length === 2)).toBe(true);
  expect(seen.atOnce).toBe(8);
});

const grpc = (code: number, details: string) =>
  new ServiceError('Failed to query Workflow', {
    cause: Object.assign(new Error(details), { code, details }),
  });

test.each([
  [
    'nobody answers',
    grpc(4, 'Deadline exceeded after 20s'),
    'Cannot read the report of c: no worker answered within 20 s. Start a worker with agent explorer on task queue q, or wait longer with --timeout.',
  ],
  [
    'nobody answers, and the server is the first to say so',
    grpc(1, 'Call cancelled'),
    'Cannot read the report of c: no worker answered within 20 s. Start a worker with agent explorer on task queue q, or wait longer with --timeout.',
  ],
  [
    'nobody polls',
    grpc(9, 'no poller seen for task queue recently, worker may be down'),
    'Cannot read the report of c: no worker answered. Start a worker with agent explorer on task queue q, or wait longer with --timeout.',
  ],
  [
    'it is no agent',
    Object.assign(new Error('no such query'), { name: 'QueryNotRegisteredError' }),
    "Cannot read the report of c: it is no agent's, or it has not begun, or its worker is older. Ask for the report of an agent, and update its workers.",
  ],
  [
    'its worker cannot replay it',
    new Error('Nondeterminism error\n  at x'),
    'Cannot read the report of c: Nondeterminism error',
  ],
])('a child that cannot be read is told of, beside those that can: %s', async (_what, error, why) => {
  const ask = [reportStep({ child: 'c' }), reportStep({ no: 1, child: 'd' })];
  const { client } = clientOf({ runs: { w: ask, c: error, d: steps(1) } });
  const { children, unread } = await collectReport(client, 'w');
  expect(unread).toEqual([{ workflowId: 'c', why }]);
  expect(children.map(({ report }) => report.workflowId)).toEqual(['d']);
});

test('a child that the server does not know any more is told of, too', async () => {
  const { client } = clientOf({ runs: { w: [reportStep({ child: 'gone' })] } });
  expect((await collectReport(client, 'w')).unread).toEqual([
    { workflowId: 'gone', why: 'The server knows no workflow gone in namespace default.' },
  ]);
});
