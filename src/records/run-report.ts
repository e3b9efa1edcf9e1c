import type { ReportStep } from '../protocol/report.ts';
import type { Step, StepFailure, StepRecord } from '../protocol/step.ts';
import { jsonBytes } from './run-records.ts';
import { saidIn } from './said-in.ts';

export const PAGE = 500;
export const LARGEST_PAGE = 1_000;
/** As much of a text as a page of a thousand of them can have. */
const SHOWN_CHARS = 300;
/** Of what a step was asked, as much as a record keeps: it goes over to each next run of the chain. */
const ASKED_CHARS = 120;
/** Bytes of the steps of one page: from 1 MiB, an answer may come through a blob store, which not every reader has. */
const PAGE_BYTES = 600_000;

/** The workflow id of a child, by the key of the step that is its call. */
export function childId(workflowId: string, { name, key }: Pick<StepRecord, 'name' | 'key'>): string {
  return `${workflowId}/${name}-${key.slice(0, 12)}${key.slice(24)}`;
}

/** What a report must know of the run that a step is of. */
export interface RunOfSteps {
  workflowId: string;
  /** How many of its records the run before had paid. */
  paidBefore: number;
  divergedAt?: number | undefined;
  /** How many of the last restarts gave the record of this number again. */
  timesReplayed(no: number): number;
  /** When it was decided that the step of this key may start. */
  decidedAt(key: string): number | undefined;
}

/** Steps as a report shows them, the first of which has this number: all of these, or as many as one answer can have. */
export function reportSteps(records: readonly StepRecord[], first: number, run: RunOfSteps): ReportStep[] {
  const steps: ReportStep[] = [];
  let bytes = 0;
  for (const record of records) {
    const step = reportStep(record, first + steps.length, run);
    bytes += jsonBytes(step);
    if (steps.length > 0 && bytes > PAGE_BYTES) break;
    steps.push(step);
  }
  return steps;
}

function reportStep(record: StepRecord, no: number, run: RunOfSteps): ReportStep {
  const { key, kind, name, askedAt, answeredAt, attempts, asked, usage, usd, lost, cached, missed } = record;
  const isServed = run.divergedAt !== undefined && no < run.divergedAt && kind !== 'turn';
  const replayed = run.timesReplayed(no);
  const decidedAt = run.decidedAt(key) ?? record.heldUntil;
  const json = jsonOf(record.value);
  return {
    no,
    key,
    kind,
    name,
    askedAt,
    answeredAt,
    attempts,
    bytes: record.blob?.bytes ?? new TextEncoder().encode(json).length,
    ...(asked !== undefined && { asked }),
    ...(record.value !== undefined && {
      answer: startOfText(kind === 'turn' ? saidIn(record.value) || json : json, SHOWN_CHARS),
    }),
    ...(record.failure && { failure: shortened(record.failure) }),
    ...(usage && { usage }),
    ...(usd !== undefined && { usd }),
    ...(replayed > 0 && { replayed }),
    ...(decidedAt !== undefined && { decidedAt }),
    ...(lost !== undefined && { lost }),
    ...(cached && { cached }),
    ...(record.edited && { edited: startOf(record.edited.arguments) }),
    ...(missed && { missed }),
    ...(isServed && { beforeChange: true as const }),
    ...(no < run.paidBefore && { paidBefore: true as const }),
    ...((kind === 'agent' || record.child) && { child: childId(run.workflowId, record) }),
  };
}

/** The start of what a step is asked, as its record keeps it. */
export function askedOf({ asked, input }: Pick<Step, 'asked' | 'input'>): Pick<StepRecord, 'asked'> {
  if (asked !== undefined) return { asked };
  return input === undefined ? {} : { asked: startOf(input, ASKED_CHARS) };
}

/** The start of a value's JSON. */
function startOf(value: unknown, chars = SHOWN_CHARS): string {
  return startOfText(jsonOf(value), chars);
}

function jsonOf(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined;
  return json ?? '';
}

/** The start of a text, with a sign that more of it is left out; no character is cut in two. */
export function startOfText(text: string, chars = ASKED_CHARS): string {
  if (text.length <= chars) return text;
  const start = text.slice(0, chars);
  return `${/[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start}…`;
}

function shortened({ message, ...failure }: StepFailure): StepFailure {
  return {
    ...failure,
    message: startOfText(message, SHOWN_CHARS),
  };
}
