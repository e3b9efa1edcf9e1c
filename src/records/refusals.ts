/** What was sent to a run by whoever may: untrusted, so it is read with care, and why it is refused. */
import type { Refusal, SentDecision } from '../protocol/signals.ts';
import type { StepApproval } from '../protocol/step.ts';
import { whyNotFits } from './fits-schema.ts';
import { jsonBytes } from './run-records.ts';

/** A signal's payload that cannot be decoded. */
export class Unreadable {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** What waits, as far as a decision on it needs to know. */
export type Decidable = { id: string } & {
  [Field in 'answer' | 'edit' | 'argumentsHash']?: StepApproval[Field] | undefined;
};

/** An answer, or arguments, become a record, which goes over to each next run. */
const MAX_SENT_BYTES = 256 * 1024;
export const MAX_TEXT_CHARS = 2_000;
const HOW = ['approve', 'reject', 'answer'] as const;

/** Reads what was sent by a signal of this name, or by the update `decide`, which says itself what it is. */
export function readDecision(door: string, payload: unknown): SentDecision | Refusal {
  if (payload instanceof Unreadable) return malformed(`it cannot be read (${clip(payload.why)})`);
  if (typeof payload !== 'object' || payload === null) return malformed('it has no "id"');
  const given = payload as Record<string, unknown>;
  const said =
    door === 'decide' ? (given['decision'] ?? (Object.hasOwn(given, 'value') ? 'answer' : '')) : door;
  const how = HOW.find((each) => each === said);
  if (!how) {
    const what = typeof said === 'string' && said !== '' ? `"${clip(said)}"` : 'missing';
    return malformed(`its "decision" is ${what}: neither "approve" nor "reject" nor "answer"`);
  }
  const { id } = given;
  if (typeof id !== 'string' && !(id === undefined && how === 'answer')) return malformed('it has no "id"');
  const text = (field: string) => {
    const value = given[field];
    return typeof value === 'string' ? { [field]: value.slice(0, MAX_TEXT_CHARS) } : {};
  };
  const field = { approve: 'arguments', reject: undefined, answer: 'value' }[how];
  const value = field && given[field];
  const tooLarge = whyTooLarge(value);
  if (tooLarge !== undefined) return unfit(`its "${field}" is too large: ${tooLarge}`);
  return {
    how,
    ...(id !== undefined && { id }),
    ...(field && value !== undefined && { [field]: value }),
    ...text('argumentsHash'),
    ...text('reason'),
    ...text('note'),
    ...text('by'),
  };
}

/** Why a decision does not fit what it is about. */
export function whyUnfit(asked: Decidable, sent: SentDecision): Refusal | undefined {
  const { id, answer, edit, argumentsHash } = asked;
  const isAnswer = sent.how === 'answer';
  if (isAnswer !== (answer !== undefined)) {
    const what = isAnswer
      ? 'to be approved: send "approve" or "reject"'
      : 'a question: send "answer" with a "value"';
    return malformed(`"${id}" is ${what}`);
  }
  if (isAnswer) {
    const wrong = whyNotValue(answer!, sent.value);
    return wrong === undefined ? undefined : unfit(`the answer to "${id}" does not fit: ${clip(wrong)}`);
  }
  if (sent.argumentsHash !== undefined && sent.argumentsHash !== argumentsHash)
    return unfit(`"${id}" is asked about other arguments, with the hash ${argumentsHash ?? '(none)'}`);
  if (sent.arguments === undefined) return undefined;
  if (!edit) return unfit(`the arguments of "${id}" may not be changed: it has no "allowEdit"`);
  const wrong = whyNotValue(edit, sent.arguments);
  return wrong === undefined ? undefined : unfit(`the arguments for "${id}" do not fit: ${clip(wrong, 300)}`);
}

function whyNotValue(schema: Record<string, unknown>, value: unknown): string | undefined {
  if (value === undefined) return 'it has no "value"';
  try {
    return whyNotFits(schema, value);
  } catch (error) {
    return `the schema cannot be used (${error instanceof Error ? error.message : String(error)})`;
  }
}

function whyTooLarge(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  try {
    const bytes = jsonBytes(value);
    return bytes > MAX_SENT_BYTES ? `it has ${bytes} bytes; the limit is ${MAX_SENT_BYTES}` : undefined;
  } catch {
    return 'it is nested too deeply';
  }
}

function unfit(reason: string): Refusal {
  return { code: 'does-not-fit', reason };
}

function malformed(reason: string): Refusal {
  return { code: 'malformed', reason };
}

export function clip(text: string, chars = 80): string {
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}
