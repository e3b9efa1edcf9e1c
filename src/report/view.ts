/** What the page of a report shows: rows and sums, made of data alone. */
import type { RunReport } from '../protocol/report.ts';
import type { Pending } from '../protocol/signals.ts';
import type { RunUsage, Spent } from '../protocol/usage.ts';
import { addSpent, nothingSpent } from '../records/spent.ts';
import type { RunTree } from './collect.ts';
import { type Bar, type Row, rowsOf } from './rows.ts';
import { duration } from '../records/numbers.ts';
import { shown } from './text.ts';
import { Timeline } from './timeline.ts';

export interface RunView {
  /** Its place in the page. */
  id: string;
  agent: string;
  workflowId: string;
  status: string;
  running: boolean;
  /** With what it ended, if not with an answer. */
  ended?: string;
  /** How deep below the root. */
  depth: number;
  /** How long it took, or has taken so far, in milliseconds. */
  ms: number;
  /** Where it was on the time of the root. */
  bar: Bar;
  timeline: Timeline;
  usage: RunUsage;
  /** How many steps were answered. */
  answered: number;
  rows: Row[];
  /** What waits for a person, in it or below. */
  waits: string[];
  /** It waits for a time, or for a message. */
  sleeps: boolean;
  listens: boolean;
  decisions: string[];
  children: RunView[];
  unread: RunTree['unread'];
  /** Where it is in Temporal's UI. */
  link?: string;
  /** The place of the step that it answers, in the run above. */
  parent?: string;
}

/** Where a run stands in the page. */
interface Place {
  root?: Timeline;
  depth: number;
  parent?: string;
}

/** @param ui where Temporal's UI is served, without a slash at its end */
export function viewOf(tree: RunTree, now: number, ui?: string, place: Place = { depth: 0 }): RunView {
  const { report, status, closedAt, ended } = tree;
  const { agent, workflowId, runId, usage, steps } = report;
  const id = idOf(workflowId);
  const timeline = new Timeline(startOf(tree), closedAt ?? now);
  const root = place.root ?? timeline;
  const children = new Map(tree.children.map((child) => [child.report.workflowId, child]));
  const rows = rowsOf(report, { now, timeline, id, childIn: (child) => children.has(child) && idOf(child) });
  const parents = new Map(rows.flatMap((row) => (row.child?.id ? [[row.child.id, row.id]] : [])));
  const link =
    ui &&
    `${ui}/namespaces/${encodeURIComponent(tree.namespace)}/workflows/${encodeURIComponent(workflowId.toWellFormed())}/${runId}`;
  return {
    id,
    agent: shown(agent),
    workflowId: shown(workflowId),
    status: shown(status).toLowerCase().replaceAll('_', ' '),
    running: closedAt === undefined,
    ...(ended !== undefined && { ended: shown(ended, 1_000) }),
    depth: place.depth,
    ms: timeline.ms,
    bar: {
      ...root.stretch(timeline.from, closedAt ?? now),
      look: closedAt === undefined ? 'agent open' : 'agent',
    },
    timeline,
    usage,
    answered: steps.length,
    rows,
    waits: waitsOf(report, now),
    sleeps: report.inFlight.some(({ kind }) => kind === 'sleep'),
    listens: report.inFlight.some(({ kind }) => kind === 'message'),
    decisions: report.decisions.map(decisionOf),
    children: [...children.values()].map((child) => {
      const parent = parents.get(idOf(child.report.workflowId));
      return viewOf(child, now, ui, { root, depth: place.depth + 1, ...(parent && { parent }) });
    }),
    unread: tree.unread.map((each) => ({ workflowId: shown(each.workflowId), why: shown(each.why) })),
    ...(link && { link }),
    ...(place.parent !== undefined && { parent: place.parent }),
  };
}

/** The first history of a chain begins before the one that the server tells of; what another run paid was before that. */
function startOf({ report: { steps, inFlight }, startedAt }: RunTree): number {
  const own = [...steps.filter((step) => !step.paidBefore), ...inFlight];
  return own.reduce((first, { askedAt }) => Math.min(first, askedAt), startedAt);
}

function waitsOf({ waiting: { approvals, questions } }: RunReport, now: number): string[] {
  return [...approvals, ...questions].map((pending: Pending) => {
    const { id, prompt, audience, askedAt, expiresAt, workflowId } = pending;
    const parts = [
      `for ${duration(now - askedAt)}`,
      audience === undefined ? [] : `for ${shown(audience)} to decide`,
      expiresAt === undefined ? [] : `until ${new Date(expiresAt).toISOString()}`,
      workflowId === undefined ? [] : `in ${shown(workflowId)}`,
    ];
    return `${shown(id)}: ${shown(prompt, 600)} (${parts.flat().join(', ')})`;
  });
}

function decisionOf({
  id,
  decision,
  by,
  note,
  reason,
  at,
  timedOut,
}: RunReport['decisions'][number]): string {
  const who = timedOut ? ', by timeout' : by === undefined ? '' : `, by ${shown(by)} as they say`;
  const why = [reason, note].flatMap((text) => (text === undefined ? [] : [shown(text)])).join('; ');
  return `${shown(id)} ${decision}${who}, ${new Date(at).toISOString()}${why && `: ${why}`}`;
}

/** What a run and those below it spent, as they stand in their own reports. */
export function spentBy(run: RunView): Spent {
  return run.children.map(spentBy).reduce(addSpent, addSpent(run.usage.own, nothingSpent()));
}

/** No two ids of workflows have the same place. */
function idOf(workflowId: string): string {
  return `run-${workflowId.replaceAll(/[^A-Za-z0-9-]/g, (other) => `_${other.charCodeAt(0).toString(16)}_`)}`;
}
