/** What the page of a report shows: rows and sums, made of data alone. */
import type { ReportStep } from '../protocol/report.ts';
import type { RunUsage, Spent } from '../protocol/usage.ts';
import { addSpent, nothingSpent } from '../records/spent.ts';
import type { RunTree } from './collect.ts';

export interface RunView {
  id: string;
  agent: string;
  workflowId: string;
  runId: string;
  status: string;
  /** How deep below the root. */
  depth: number;
  startedAt: number;
  ms: number;
  usage: RunUsage;
  rows: Row[];
  /** What is under way or waits. */
  open: string[];
  children: RunView[];
  unread: RunTree['unread'];
  decisions: string[];
  link?: string;
}

export interface Row {
  no: number;
  kind: string;
  name: string;
  /** Where its bar begins and how wide it is, in hundredths of the run. */
  left: number;
  width: number;
  ms: number;
  /** Why it is not what one would expect: from the cache, asked anew, failed, … */
  notes: string[];
  failed: boolean;
  tokens?: string;
  usd?: string;
  bytes: number;
  asked?: string;
  answer?: string;
  /** The place of the child that answered it in the page. */
  child?: string;
}

/** @param ui where Temporal's UI is served */
export function viewOf(tree: RunTree, now: number, ui?: string, depth = 0): RunView {
  const { report, startedAt, closedAt = now, namespace } = tree;
  const { agent, workflowId, runId, usage, steps, inFlight, decisions } = report;
  const ms = Math.max(1, closedAt - startedAt);
  const inHundredths = (at: number) => Math.min(100, Math.max(0, ((at - startedAt) / ms) * 100));
  const link =
    ui &&
    `${ui}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}/${runId}`;
  return {
    id: idOf(workflowId),
    agent,
    workflowId,
    runId,
    status: tree.status,
    depth,
    startedAt,
    ms,
    usage,
    rows: steps.map((step) => rowOf(step, inHundredths)),
    open: inFlight.map(({ kind, name, askedAt }) => `${kind} ${shown(name)}, for ${duration(now - askedAt)}`),
    children: tree.children.map((child) => viewOf(child, now, ui, depth + 1)),
    unread: tree.unread,
    decisions: decisions.map(({ id, decision, by, note, reason, at, timedOut }) => {
      const who = timedOut ? ', by timeout' : by === undefined ? '' : `, by ${shown(by)} as they say`;
      const why = [reason, note].flatMap((text) => (text === undefined ? [] : [shown(text)])).join('; ');
      return `${shown(id)} ${decision}${who}, ${new Date(at).toISOString()}${why && `: ${why}`}`;
    }),
    ...(link && { link }),
  };
}

function rowOf(step: ReportStep, inHundredths: (at: number) => number): Row {
  const { no, kind, name, askedAt, answeredAt, usage, usd, bytes, asked, answer, failure, child } = step;
  const left = inHundredths(askedAt);
  return {
    no,
    kind,
    name: shown(name),
    left,
    width: Math.max(0.3, inHundredths(answeredAt) - left),
    ms: answeredAt - askedAt,
    notes: notesOf(step),
    failed: failure !== undefined,
    bytes,
    ...(usage && { tokens: `${count(usage.input)} → ${count(usage.output)}` }),
    ...(usage && { usd: usd === undefined ? 'price not known' : dollars(usd) }),
    ...(asked !== undefined && { asked: shown(asked) }),
    ...(answer !== undefined && { answer: shown(answer) }),
    ...(failure && { answer: `${shown(failure.name)}: ${shown(failure.message)}` }),
    ...(child !== undefined && { child: idOf(child) }),
  };
}

function notesOf({ attempts, cached, edited, missed, lost, beforeChange, paidBefore }: ReportStep): string[] {
  return [
    attempts > 1 ? `started ${attempts} times` : [],
    lost ? `${lost} attempts vanished with their worker; perhaps charged` : [],
    cached
      ? `from the cache, of ${shown(cached.workflowId)}, where it took ${duration(cached.durationMs)}`
      : [],
    edited === undefined ? [] : `a person changed the arguments to ${shown(edited)}`,
    missed ? `asked anew: ${missed.map(shown).join(', ')} changed` : [],
    beforeChange ? 'from before the code changed' : [],
    paidBefore ? 'paid by the run before' : [],
  ].flat();
}

/** What a run and those below it spent, as they stand in their own reports. */
export function spentBy(run: RunView): Spent {
  return run.children.map(spentBy).reduce(addSpent, addSpent(run.usage.own, nothingSpent()));
}

/** Text of a model, a tool or a person: without what moves a cursor, or turns the reading direction around. */
export function shown(text: string): string {
  return text
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/\p{Cc}/gu, (control) => (/\s/.test(control) ? ' ' : '␛'));
}

export function count(n: number): string {
  return Math.round(n).toLocaleString('en-US');
}

export function dollars(usd: number): string {
  return `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 48 * 3_600_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  return `${(ms / 86_400_000).toFixed(1)} days`;
}

function idOf(workflowId: string): string {
  return `run-${workflowId.replaceAll(/[^\w-]/g, '_')}`;
}
