import type { ReportStep } from '../protocol/report.ts';
import type { StepFailure, StepRecord } from '../protocol/step.ts';
import { jsonBytes } from './run-records.ts';

export const PAGE = 500;
export const LARGEST_PAGE = 1_000;
/** As much of a text as a page of a thousand of them can have. */
const SHOWN_CHARS = 300;

/** The workflow id of a child, by the key of the step that is its call. */
export function childId(workflowId: string, { name, key }: Pick<StepRecord, 'name' | 'key'>): string {
  return `${workflowId}/${name}-${key.slice(0, 12)}${key.slice(24)}`;
}

/** Steps as a report shows them, the first of which has this number. */
export function reportSteps(
  records: readonly StepRecord[],
  first: number,
  run: { workflowId: string; paidBefore: number; divergedAt?: number | undefined },
): ReportStep[] {
  return records.map((record, i) => {
    const { key, kind, name, askedAt, answeredAt, attempts, asked, usage, usd, lost, cached, missed } =
      record;
    const no = first + i;
    const isServed = run.divergedAt !== undefined && no < run.divergedAt && kind !== 'turn';
    return {
      no,
      key,
      kind,
      name,
      askedAt,
      answeredAt,
      attempts,
      bytes: record.blob?.bytes ?? jsonBytes(record.value),
      ...(asked !== undefined && { asked }),
      ...(record.value !== undefined && { answer: startOf(record.value) }),
      ...(record.failure && { failure: shortened(record.failure) }),
      ...(usage && { usage }),
      ...(usd !== undefined && { usd }),
      ...(lost !== undefined && { lost }),
      ...(cached && { cached }),
      ...(record.edited && { edited: startOf(record.edited.arguments) }),
      ...(missed && { missed }),
      ...(isServed && { beforeChange: true as const }),
      ...(no < run.paidBefore && { paidBefore: true as const }),
      ...((kind === 'agent' || record.child) && { child: childId(run.workflowId, record) }),
    };
  });
}

/** The start of a value's JSON. */
export function startOf(value: unknown, chars = SHOWN_CHARS): string {
  const json = (JSON.stringify(value) as string | undefined) ?? '';
  return json.length > chars ? `${json.slice(0, chars)}…` : json;
}

function shortened({ message, ...failure }: StepFailure): StepFailure {
  return {
    ...failure,
    message: message.length > SHOWN_CHARS ? `${message.slice(0, SHOWN_CHARS)}…` : message,
  };
}
