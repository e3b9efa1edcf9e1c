/** What a run can be found by, and when that is worth an event. */
import type { RunFacts } from '../protocol/search-attributes.ts';
import {
  AGENT_AUDIENCE,
  AGENT_COST_USD,
  AGENT_NAME,
  AGENT_TOKENS,
  AGENT_WAITING,
} from '../protocol/search-attributes.ts';
import type { Waiting } from '../protocol/signals.ts';
import type { Spent } from '../protocol/usage.ts';

/** Model turns after which cost and tokens are told anew, if nothing else is to be told sooner. */
const TURNS_UNTOLD = 20;
const SPENDING = new Set<string>([AGENT_COST_USD.name, AGENT_TOKENS.name]);
/** A server keeps no longer keywords in every store. */
const MAX_KEYWORD_CHARS = 255;
/** A server fails the task that sets a value of more than 2 KB. */
const MAX_LIST_BYTES = 1_500;

/** Values by name; `undefined`: unset. */
export type Values = Record<string, string | number | string[] | undefined>;

/** @param changes how often what waits has changed */
export function factsOf(
  waits: Pick<Waiting, 'approvals' | 'questions'>,
  all: Spent,
  changes: number,
): RunFacts {
  const { input, output } = all.usage;
  return {
    turns: bounded(all.turns),
    usd: Math.min(all.usd, Number.MAX_SAFE_INTEGER),
    tokens: bounded(input + output),
    ...marksOf(waits),
    changes,
  };
}

/** What is waited for, and by whom it is to be answered. */
export function marksOf({
  approvals,
  questions,
}: Pick<Waiting, 'approvals' | 'questions'>): Pick<RunFacts, 'waiting' | 'audience'> {
  const all = [...approvals, ...questions];
  const waiting = [
    ...(approvals.length > 0 ? ['approval'] : []),
    ...(all.some(({ escalated }) => escalated) ? ['escalated'] : []),
    ...(questions.length > 0 ? ['question'] : []),
  ];
  const audience = keywords(all.flatMap(({ audience: whom }) => whom ?? []));
  return { ...(waiting.length > 0 && { waiting }), ...(audience.length > 0 && { audience }) };
}

/** Whether two things that wait look the same in a list. */
export function sameMarks(a: Pick<RunFacts, 'waiting' | 'audience'>, b: typeof a): boolean {
  return isSame(a.waiting, b.waiting) && isSame(a.audience, b.audience);
}

/** The values of all search attributes. */
export function valuesOf(agent: string, { usd, tokens, waiting, audience }: RunFacts): Values {
  return {
    [AGENT_NAME.name]: agent,
    [AGENT_COST_USD.name]: usd,
    [AGENT_TOKENS.name]: tokens,
    [AGENT_WAITING.name]: waiting,
    [AGENT_AUDIENCE.name]: audience,
  };
}

/** Which values are others than the server has. */
export function changedValues(wanted: Values, has: Values): string[] {
  return Object.keys(wanted).filter((name) => !isSame(wanted[name], has[name]));
}

/**
 * Whether what has changed is worth an event now: it is more than what the run has spent, or that over many turns.
 * @param turns since cost and tokens were told
 */
export function isWorthTelling(changed: readonly string[], turns: number): boolean {
  return changed.some((name) => !SPENDING.has(name) || turns >= TURNS_UNTOLD);
}

function isSame(a: Values[string], b: Values[string]): boolean {
  return JSON.stringify(unset(a)) === JSON.stringify(unset(b));
}

/** An empty list is none. */
function unset(value: Values[string]): Values[string] {
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

/** In alphabetical order, each once, as many as the server takes. */
function keywords(given: readonly string[]): string[] {
  const all = [...new Set(given.map((each) => each.slice(0, MAX_KEYWORD_CHARS)))].filter(Boolean).toSorted();
  let bytes = 0;
  return all.filter((each) => (bytes += 3 * JSON.stringify(each).length) <= MAX_LIST_BYTES);
}

/** What a child says may be any number; a server takes 64 bits. */
function bounded(count: number): number {
  return Math.min(Math.round(count), Number.MAX_SAFE_INTEGER);
}
