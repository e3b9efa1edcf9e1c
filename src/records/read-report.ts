/** What a child says of itself, read as what anybody could have sent: what is of another shape is left out. */
import type { AllowanceReport, Amounts, Grant } from '../protocol/budget.ts';
import type { Door, NestedOutcome } from '../protocol/advance.ts';
import type { Pending, PendingApproval, PendingQuestion, Refusal } from '../protocol/signals.ts';
import type { Spent } from '../protocol/usage.ts';
import { amountsIn } from './budget-limits.ts';

type Fields = Record<string, unknown>;
/** Ids of workflows, runs and updates: the server takes no longer ones. */
const MAX_NAME_CHARS = 1_000;
/** No run has more. */
const MOST_GRANTS = 1e9;
/** A date can be made of it. */
const LATEST = 8.64e15;

export function listOf(value: unknown): Fields[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list.filter((each): each is Fields => typeof each === 'object' && each !== null);
}

export function approvalIn(given: Fields): PendingApproval[] {
  const pending = pendingIn(given);
  const { name, input, edit } = given;
  if (!pending || typeof name !== 'string') return [];
  return [
    {
      ...pending,
      name,
      ...(input !== undefined && { input }),
      ...text(given, 'argumentsHash'),
      ...(isObject(edit) && { edit }),
    },
  ];
}

export function questionIn(given: Fields): PendingQuestion[] {
  const pending = pendingIn(given);
  return pending && isObject(given['schema']) ? [{ ...pending, schema: given['schema'] }] : [];
}

/** Where a decision came in. */
export function doorIn(given: unknown): Door | undefined {
  if (!isObject(given)) return undefined;
  const { workflowId, runId, signal, nth, updateId } = given;
  const texts = [workflowId, runId, signal ?? '', updateId ?? ''];
  if (!texts.every((each) => typeof each === 'string' && each.length <= MAX_NAME_CHARS)) return undefined;
  return {
    workflowId: workflowId as string,
    runId: runId as string,
    ...text(given, 'signal'),
    ...(typeof nth === 'number' && { nth }),
    ...text(given, 'updateId'),
  };
}

/** Tells doors apart. */
export function doorKey({ workflowId, runId, signal, nth, updateId }: Door): string {
  return JSON.stringify([workflowId, runId, signal, nth, updateId]);
}

export function outcomeIn({ door: given, workflowId, refusal }: Fields): NestedOutcome[] {
  const door = doorIn(given);
  if (!door || typeof workflowId !== 'string') return [];
  if (refusal !== undefined && !(isObject(refusal) && typeof refusal['reason'] === 'string')) return [];
  return [
    {
      door,
      workflowId,
      ...(refusal && { refusal: refusal as unknown as Refusal }),
    },
  ];
}

/** What was spent. */
export function spentIn(given: unknown): Spent | undefined {
  if (!isObject(given) || !isObject(given['usage'])) return undefined;
  const { turns, usd, unpriced, usage } = given;
  const { input = 0, output = 0, ...kinds } = usage;
  if (![turns, usd, input, output, ...Object.values(kinds)].every(isCount)) return undefined;
  return {
    turns: turns as number,
    usage: { ...kinds, input: input as number, output: output as number },
    usd: usd as number,
    unpriced: (Array.isArray(unpriced) ? unpriced : [])
      .filter((each) => typeof each === 'string')
      .slice(0, 20),
  };
}

/** What a child says of its allowance. */
export function allowanceReportIn(given: unknown): AllowanceReport | undefined {
  if (!isObject(given) || !isNumberOfGrant(given['grants'])) return undefined;
  const { grants, returned, settled, wants } = given;
  return {
    grants,
    returned: amountsIn(returned),
    settled: amountsIn(settled),
    ...(given['over'] === true && { over: true }),
    ...(given['busy'] === true && { busy: true }),
    ...(isObject(wants) && {
      wants: {
        ...amountsIn(wants),
        ...(typeof wants['what'] === 'string' && { what: wants['what'].slice(0, 300) }),
        ...(isTime(wants['late']) && { late: wants['late'] }),
      },
    }),
  };
}

/** What a parent grants. */
export function grantIn(given: unknown): (Grant & { granted: Amounts }) | undefined {
  if (!isObject(given) || !isNumberOfGrant(given['grants'])) return undefined;
  const { grants, granted, until, refused, final } = given;
  const { name, message, code } = isObject(refused) ? refused : {};
  return {
    grants,
    granted: amountsIn(granted),
    ...((until === null || isTime(until)) && { until }),
    ...(typeof name === 'string' &&
      typeof message === 'string' && {
        refused: { name, message, ...(typeof code === 'string' && { code }) },
      }),
    ...(final === true && { final }),
  };
}

function isNumberOfGrant(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_GRANTS;
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function pendingIn(given: Fields): Pending | undefined {
  const { id, prompt, askedAt, expiresAt, onTimeout, escalated, withdrawn } = given;
  if (typeof id !== 'string' || typeof prompt !== 'string' || !isTime(askedAt)) return undefined;
  return {
    id,
    prompt,
    askedAt,
    ...(isTime(expiresAt) && { expiresAt }),
    ...(isOnTimeout(onTimeout) && { onTimeout }),
    ...text(given, 'audience'),
    ...text(given, 'workflowId'),
    ...(escalated === true && { escalated }),
    ...(withdrawn === true && { withdrawn }),
  };
}

function text<Field extends string>(given: Fields, field: Field): { [F in Field]?: string } {
  const value = given[field];
  return (typeof value === 'string' ? { [field]: value } : {}) as { [F in Field]?: string };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= LATEST;
}

function isOnTimeout(value: unknown): value is NonNullable<Pending['onTimeout']> {
  return value === 'reject' || value === 'approve' || value === 'escalate';
}
