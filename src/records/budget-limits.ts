/** A budget, read as what anybody could have written: in an agent's options, in a memo, in a decision. */
import type { Amounts, BudgetLimits } from '../protocol/budget.ts';

const FIELDS = 'usd, tokens, turns, wallTime, onBreach, audience, unknownPrice, maxOutputTokens';
/** As Temporal's durations are written, such as `10 minutes`, or milliseconds. */
const WALL_TIME = String.raw`^\d+(\.\d+)? ?(ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)$`;

/** More is surely a mistake, and sums of it would not be exact. */
const MOST = 1e12;
/** A hundred years, in milliseconds: a date can be made of what is added to now. */
const LONGEST = 100 * 365 * 86_400_000;
const amount = { type: 'number', minimum: 0, maximum: MOST };

/** What a person may raise a budget by, as JSON Schema. */
export const RAISE_SCHEMA = {
  type: 'object',
  properties: {
    usd: amount,
    tokens: amount,
    turns: amount,
    wallTime: {
      anyOf: [
        { type: 'string', pattern: WALL_TIME, maxLength: 40 },
        { type: 'number', minimum: 0, maximum: LONGEST },
      ],
    },
    unknownPrice: { enum: ['allow'] },
  },
  additionalProperties: false,
  minProperties: 1,
};

/**
 * The limits of a budget, or why it is none.
 * @param toMs reads a duration; throws for what is none
 */
export function readBudget(
  given: unknown,
  toMs: (duration: string | number) => number,
): BudgetLimits | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return 'give an object such as { usd: 1 }';
  const { usd, tokens, turns, wallTime, onBreach, audience, unknownPrice, maxOutputTokens, ...other } =
    given as Record<string, unknown>;
  const [unknown] = Object.keys(other);
  if (unknown !== undefined) return `it has no "${unknown}", only ${FIELDS}`;
  for (const [field, value] of Object.entries({ usd, tokens, turns, maxOutputTokens })) {
    if (value !== undefined && !(typeof value === 'number' && value >= 0 && value <= MOST))
      return `"${field}" must be a number from 0 to ${MOST}`;
  }
  if ([turns, maxOutputTokens].some((each) => each !== undefined && !Number.isInteger(each)))
    return '"turns" and "maxOutputTokens" must be whole numbers';
  if (maxOutputTokens === 0) return '"maxOutputTokens" must be more than 0';
  if (onBreach !== undefined && onBreach !== 'fail' && onBreach !== 'ask')
    return '"onBreach" must be "fail" or "ask"';
  if (unknownPrice !== undefined && unknownPrice !== 'refuse' && unknownPrice !== 'allow')
    return '"unknownPrice" must be "refuse" or "allow"';
  if (audience !== undefined && typeof audience !== 'string') return '"audience" must be a text';
  const wallTimeMs = wallTime === undefined ? undefined : msOf(wallTime, toMs);
  if (wallTimeMs !== undefined && !(wallTimeMs >= 0 && wallTimeMs <= LONGEST))
    return '"wallTime" must be a duration, such as "10 minutes", or milliseconds, of at most 100 years';
  const limits = { usd, tokens, turns, onBreach, audience, unknownPrice, maxOutputTokens, wallTimeMs };
  return Object.fromEntries(
    Object.entries(limits).filter(([, value]) => value !== undefined),
  ) as BudgetLimits;
}

/** What a person gave, as milliseconds: of a text that is longer than it may be, as much as may be. */
export function raisedTime(
  wallTime: string | number | undefined,
  toMs: (duration: string | number) => number,
): number | undefined {
  return wallTime === undefined ? undefined : Math.min(LONGEST, msOf(wallTime, toMs) || 0);
}

function msOf(duration: unknown, toMs: (duration: string | number) => number): number {
  if (typeof duration !== 'string' && typeof duration !== 'number') return Number.NaN;
  try {
    return toMs(duration);
  } catch {
    return Number.NaN;
  }
}

/** Amounts that came from outside: what is no number of 0 or more counts as nothing. */
export function amountsIn(given: unknown): Amounts {
  const { usd, tokens, turns } = (given ?? {}) as Record<string, unknown>;
  return { usd: amountIn(usd), tokens: amountIn(tokens), turns: amountIn(turns) };
}

function amountIn(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(value, MOST) : 0;
}
