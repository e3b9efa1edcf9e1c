/** A budget in words: why something does not fit, and what a person is asked. */
import type { Amounts, BudgetState } from '../protocol/budget.ts';
import type { StepFailure } from '../protocol/step.ts';
import { DIMENSIONS } from './budget-ledger.ts';
import { countOf, dollars, duration } from './numbers.ts';

/** What a budget does not suffice in. */
export type Breach = keyof Amounts | 'wallTime' | 'unknownPrice';

/** The failure of what does not fit. */
export function breachFailure(
  breach: readonly Breach[],
  what: string,
  state: BudgetState,
  need: Amounts,
): StepFailure {
  const why = breach.map((dimension) => reason(dimension, state, need)).join('; ');
  return {
    name: 'BudgetExceededError',
    message: `The budget does not suffice for ${what}: ${why}.`,
    code: breach[0]!,
  };
}

/** What a person is asked. */
export function raisePrompt(why: string, raise: object): string {
  return `${why} Approve to raise it by ${Object.entries(raise)
    .map(([field, by]) => (field === 'unknownPrice' ? 'allowing unknown prices' : amount(field, by)))
    .join(' and ')}, or by other amounts as "arguments"; reject to end.`;
}

/** How a budget stands, by what it limits. */
export function budgetParts(state: BudgetState | undefined): string[] {
  if (!state) return [];
  const { limits, spent, reserved, left, until } = state;
  const amounts = DIMENSIONS.flatMap((dimension) => {
    const rest = left[dimension];
    if (rest === undefined) return [];
    const said = (of: number) => amount(dimension, of);
    const limit = limits[dimension] === undefined ? '' : ` of ${said(limits[dimension])}`;
    const held = reserved[dimension] > 0 ? `, ${said(reserved[dimension])} held` : '';
    return [`${said(rest)} left${limit} (${said(spent[dimension])} spent${held})`];
  });
  return [...amounts, ...(until === undefined ? [] : [`until ${new Date(until).toISOString()}`])];
}

function reason(
  dimension: Breach,
  { limits, spent, reserved, left, until }: BudgetState,
  need: Amounts,
): string {
  if (dimension === 'wallTime') return `its time was over at ${new Date(until!).toISOString()}`;
  if (dimension === 'unknownPrice')
    return 'nobody knows its price, which counts as over budget (unknownPrice: "allow" counts it as free; "prices" of AgentsPlugin names it)';
  const said = (of: number) => amount(dimension, of);
  const held = reserved[dimension] > 0 ? `, ${said(reserved[dimension])} held` : '';
  return `it may take ${said(need[dimension])}, and ${said(left[dimension] ?? 0)} of ${said(limits[dimension] ?? 0)} are left (${said(spent[dimension])} spent${held})`;
}

function amount(dimension: string, value: unknown): string {
  if (typeof value !== 'number') return String(value);
  if (dimension === 'usd') return dollars(value);
  if (dimension === 'wallTime') return duration(value);
  return countOf(value, dimension === 'turns' ? 'turn' : 'token');
}
