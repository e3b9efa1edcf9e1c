/** The rows of a run: its steps by when they were asked, what is under way, and the time in which nothing was. */
import type { ReportStep, RunReport } from '../protocol/report.ts';
import { count, countOf, dollars, duration, roundDuration } from '../records/numbers.ts';
import { cacheWords, reasoningWords } from '../records/token-words.ts';
import { shown } from './text.ts';
import type { Stretch, Timeline } from './timeline.ts';

/** As much of what a step was asked as stands in its row. Characters. */
const ABOUT_CHARS = 80;
/** Kinds that only wait: for a person, a time, a message. */
const WAITS = new Set(['approval', 'sleep', 'message']);

/** A bar on the time of a run. */
export interface Bar extends Stretch {
  /** Its classes: the kind, `wait` for what only waited, `open` for what goes on. */
  look: string;
}

export interface Row {
  /** Its place in the page; absent: nothing was under way. */
  id?: string;
  /** Its number in the order of the answers, from 1; absent: it has none yet. */
  no?: number;
  kind: string;
  name: string;
  /** What it was asked, in a few words. */
  about?: string;
  bars: Bar[];
  ms: number;
  /** Why it is not what one would expect: from the cache, asked anew, given again, … */
  notes: string[];
  failed: boolean;
  usd?: string;
  /** What is read when it is opened: a name, and a text. */
  facts: [string, string][];
  /** The child that answers it, and its place in the page if it could be read. */
  child?: { workflowId: string; id?: string };
}

/** Where the rows are to be. */
export interface RowsPlace {
  now: number;
  timeline: Timeline;
  /** The place of their run in the page. */
  id: string;
  /** The place of a child in the page, if it is there. */
  childIn: (workflowId: string) => string | false;
}

export function rowsOf({ steps, inFlight, usage }: RunReport, place: RowsPlace): Row[] {
  const { now, timeline } = place;
  const answered = steps.map((step) => ({
    from: step.askedAt,
    to: step.answeredAt,
    row: answeredRow(step, place),
  }));
  const open = inFlight.map((step, n) => ({ from: step.askedAt, to: now, row: openRow(step, n, place) }));
  const busy = [...answered, ...open].toSorted((a, b) => a.from - b.from);
  // A step whose worker vanished counts from when it was asked again.
  const mayBeLost = usage.replayed.restarts > 0 || steps.some(({ lost }) => lost);
  const name = mayBeLost ? 'nothing under way, or lost with a worker' : 'nothing was under way';
  const gaps = timeline.gaps(busy).map((gap) => ({ ...gap, row: gapRow(name, gap, timeline) }));
  return [...busy, ...gaps].toSorted((a, b) => a.from - b.from).map(({ row }) => row);
}

function answeredRow(step: ReportStep, { timeline, id, childIn }: RowsPlace): Row {
  const { no, kind, name, askedAt, answeredAt, usage, usd, asked, failure, child, decidedAt } = step;
  const waitedUntil = WAITS.has(kind) ? answeredAt : decidedAt;
  const waited =
    waitedUntil !== undefined && waitedUntil > askedAt ? Math.min(waitedUntil, answeredAt) : askedAt;
  return {
    id: `${id}-${no + 1}`,
    no: no + 1,
    kind,
    name: shown(name, 200),
    ...(asked !== undefined && { about: shown(asked, ABOUT_CHARS) }),
    bars: [
      ...(waited > askedAt ? [{ ...timeline.stretch(askedAt, waited), look: 'wait' }] : []),
      ...(waited < answeredAt || waited === askedAt
        ? [{ ...timeline.stretch(waited, answeredAt), look: kind }]
        : []),
    ],
    ms: answeredAt - askedAt,
    notes: notesOf(step, waited - askedAt),
    failed: failure !== undefined,
    ...(usage && { usd: usd === undefined ? 'price not known' : dollars(usd) }),
    facts: factsOf(step, timeline),
    ...(child !== undefined && { child: childOf(child, childIn) }),
  };
}

function openRow(
  { kind, name, askedAt, child }: RunReport['inFlight'][number],
  n: number,
  { now, timeline, id, childIn }: RowsPlace,
): Row {
  return {
    id: `${id}-open-${n + 1}`,
    kind,
    name: shown(name, 200),
    bars: [{ ...timeline.stretch(askedAt, now), look: `${WAITS.has(kind) ? 'wait' : kind} open` }],
    ms: now - askedAt,
    notes: [WAITS.has(kind) ? 'waits' : 'under way'],
    failed: false,
    facts: [['Asked', began(askedAt, timeline)]],
    ...(child !== undefined && { child: childOf(child, childIn) }),
  };
}

function gapRow(name: string, { from, to }: { from: number; to: number }, timeline: Timeline): Row {
  return {
    kind: '',
    name,
    bars: [{ ...timeline.stretch(from, to), look: 'gap' }],
    ms: to - from,
    notes: [],
    failed: false,
    facts: [],
  };
}

function childOf(workflowId: string, childIn: RowsPlace['childIn']): NonNullable<Row['child']> {
  const id = childIn(workflowId);
  return { workflowId: shown(workflowId), ...(id !== false && { id }) };
}

function began(at: number, { from }: Timeline): string {
  return `${roundDuration(Math.max(0, at - from))} after the beginning, ${new Date(at).toISOString()}`;
}

function factsOf(step: ReportStep, timeline: Timeline): Row['facts'] {
  const { asked, answer, failure, usage, usd, attempts, bytes, askedAt } = step;
  const facts: [string, string | undefined][] = [
    ['Asked', asked === undefined ? undefined : shown(asked)],
    ['Answered', answer === undefined ? undefined : shown(answer)],
    ['Failed', failure && `${shown(failure.name)}: ${shown(failure.message)}`],
    ['Tokens', usage && tokensOf(usage)],
    ['Cost', usage && (usd === undefined ? 'the price is not known' : `$${Number(usd.toPrecision(6))}`)],
    ['Attempts', attempts > 1 ? count(attempts) : undefined],
    ['Size', bytes > 0 ? countOf(bytes, 'byte') : undefined],
    ['Began', began(askedAt, timeline)],
  ];
  return facts.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as [string, string]]));
}

function tokensOf(usage: NonNullable<ReportStep['usage']>): string {
  const { input, output } = usage;
  return `${count(input)} in${cacheWords(usage)}, ${count(output)} out${reasoningWords(usage)}`;
}

function notesOf(step: ReportStep, waitedMs: number): string[] {
  const { kind, attempts, replayed, cached, edited, missed, lost, beforeChange, paidBefore } = step;
  const took = duration(step.answeredAt - step.askedAt);
  return [
    replayed ? `given again from its record ${countOf(replayed, 'time')}; it took ${took} when it ran` : [],
    attempts > 1 ? `started ${attempts} times` : [],
    lost ? `${countOf(lost, 'attempt')} vanished with the worker; perhaps charged` : [],
    cached
      ? `from the cache, of ${shown(cached.workflowId)}, where it took ${duration(cached.durationMs)}`
      : [],
    edited === undefined ? [] : `a person changed the arguments to ${shown(edited)}`,
    waitedMs > 0 && !WAITS.has(kind) ? `waited ${duration(waitedMs)} for a decision` : [],
    missed ? `asked anew: ${missed.map((field) => shown(field, 100)).join(', ')} changed` : [],
    beforeChange ? 'from before the code changed' : [],
    paidBefore ? 'paid by the run before' : [],
  ].flat();
}
