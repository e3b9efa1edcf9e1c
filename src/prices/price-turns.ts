/** What the turns that a loop asks for may cost, in dollars: the run knows no prices. */
import type { Advance } from '../protocol/advance.ts';
import type { Step } from '../protocol/step.ts';
import type { Prices } from './prices.ts';

/** With what each turn of a run with a budget may cost at most. */
export async function withWorstCosts<T extends Pick<Advance, 'steps'>>(prices: Prices, asked: T): Promise<T> {
  if (!asked.steps?.some(({ worst }) => worst)) return asked;
  return { ...asked, steps: await Promise.all(asked.steps.map(async (step) => await priced(prices, step))) };
}

async function priced(prices: Prices, step: Step): Promise<Step> {
  if (!step.worst) return step;
  const { input, output } = step.worst;
  // All of it written to the provider's cache costs more than plain input, with some.
  const each = await Promise.all([
    prices.usdOf(step.name, { input, output }),
    prices.usdOf(step.name, { input, output, cacheWrite: input }),
  ]);
  const known = each.filter((usd) => usd !== undefined);
  return { ...step, worst: { input, output, ...(known.length > 0 && { usd: Math.max(...known) }) } };
}
