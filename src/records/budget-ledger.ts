/**
 * The books of a budget: what is spent, what is held for turns under way and by children, and whether something more fits.
 * Whatever is held counts as spent until it is settled or given back, so that the sum never exceeds the budget.
 */
import type { Allowance, AllowanceReport, Amounts, WorstCase } from '../protocol/budget.ts';
import type { StepRecord } from '../protocol/step.ts';

type Dimension = keyof Amounts;
export const DIMENSIONS: readonly Dimension[] = ['usd', 'tokens', 'turns'];
/** Sums of dollars are not exact. */
const EPSILON = 1e-9;
/** A child gets this part of what is left as it starts, and beyond what it wants. */
const SLICE = 4;

interface Child {
  granted: Amounts;
  grants: number;
  /** All that was granted by then, by the number of the grant. */
  grantedBy: Amounts[];
  report: AllowanceReport;
}

export class BudgetLedger {
  /** Its own budget, with what people raised it by. */
  limit: Partial<Amounts> = {};
  /** Of a child: what its parent granted, and what it gave back. */
  granted: Partial<Amounts> | undefined;
  returned = nothing();
  /** Spent by its own turns. */
  own = nothing();
  /** What children that are over had been given and did not give back. */
  readonly ended: Amounts;
  readonly #reserved = new Map<string, Amounts>();
  readonly #children = new Map<string, Child>();

  constructor(ended: Amounts = nothing()) {
    this.ended = ended;
  }

  /** Spent, by it and by its children that are over. */
  get settled(): Amounts {
    return sum(this.own, this.ended);
  }

  /** Held for turns that are under way, and by children that run. */
  get held(): Amounts {
    return sum(...this.#reserved.values(), ...[...this.#children.values()].map(heldBy));
  }

  /** What may still be reserved, by dimension: absent where nothing limits it. */
  get left(): Partial<Amounts> {
    const taken = sum(this.settled, this.held);
    return Object.fromEntries(
      DIMENSIONS.flatMap((dimension) => {
        const limits = [this.limit[dimension], this.#allowed(dimension)].filter((each) => each !== undefined);
        return limits.length === 0 ? [] : [[dimension, Math.max(0, Math.min(...limits) - taken[dimension])]];
      }),
    );
  }

  /** Where a need does not fit: its own budget, and what its parent allows. */
  short(need: Amounts): { own: Dimension[]; allowed: Dimension[] } {
    const taken = sum(this.settled, this.held, need);
    const exceeds = (limit: number | undefined, dimension: Dimension) =>
      limit !== undefined && need[dimension] > 0 && taken[dimension] > limit + EPSILON;
    return {
      own: DIMENSIONS.filter((dimension) => exceeds(this.limit[dimension], dimension)),
      allowed: DIMENSIONS.filter((dimension) => exceeds(this.#allowed(dimension), dimension)),
    };
  }

  /** How much more than it has a child needs from its parent for all of these. */
  lacks(needs: readonly Amounts[]): Amounts {
    const taken = sum(this.settled, this.held, ...needs);
    return fromEach((dimension) => {
      const allowed = this.#allowed(dimension);
      return allowed === undefined ? 0 : Math.max(0, taken[dimension] - allowed);
    });
  }

  /** Something is held that will be settled or given back without anybody's doing. */
  get mayRelease(): boolean {
    if (this.#reserved.size > 0) return true;
    return [...this.#children].some(
      ([id, child]) => !this.wantsOf(id) && isSome(minus(heldBy(child), child.report.settled)),
    );
  }

  reserve(key: string, need: Amounts): void {
    this.#reserved.set(key, need);
  }

  release(key: string): void {
    this.#reserved.delete(key);
  }

  /** A turn was answered, or failed. */
  settle({ key, usage, usd = 0, lost = 0 }: StepRecord): void {
    this.#reserved.delete(key);
    if (!usage) return;
    const times = 1 + lost;
    this.own = sum(this.own, {
      usd: usd * times,
      tokens: (usage.input + usage.output) * times,
      turns: times,
    });
  }

  /** What a child may spend from its start on. */
  startChild(id: string): Partial<Amounts> {
    const granted = slice(this.left);
    this.#children.set(id, {
      granted: sum(granted),
      grants: 0,
      grantedBy: [sum(granted)],
      report: { grants: 0, returned: nothing(), settled: nothing() },
    });
    return granted;
  }

  /** A child is over, and what it did not give back is taken for spent; or it never was, and has spent nothing. */
  endChild(id: string, neverWas = false): void {
    const child = this.#children.get(id);
    this.#children.delete(id);
    if (!child || neverWas) return;
    // Where nothing limits it, it holds nothing, and spent what it said.
    const held = heldBy(child);
    const { settled } = child.report;
    const taken = fromEach((dimension) => Math.max(held[dimension], settled[dimension]));
    Object.assign(this.ended, sum(this.ended, taken));
  }

  /** Takes what a child says. Sums only grow, and a child has no more than it was given. */
  hear(id: string, { grants, returned, settled, wants, over }: AllowanceReport): void {
    const child = this.#children.get(id);
    if (!child) return;
    const before = child.report;
    if (over) child.granted = child.grantedBy[grants] ?? child.granted;
    const gave = fromEach((dimension) =>
      Math.min(child.granted[dimension], Math.max(before.returned[dimension], returned[dimension])),
    );
    child.report = {
      grants,
      returned: gave,
      settled: fromEach((dimension) => Math.max(before.settled[dimension], settled[dimension])),
      ...(wants && { wants }),
    };
  }

  /** What a child waits for, unless an answer to it is on its way. */
  wantsOf(id: string): AllowanceReport['wants'] {
    const child = this.#children.get(id);
    return child && child.report.grants === child.grants ? child.report.wants : undefined;
  }

  /** Grants a child what it wants, and a part of what is left besides, so that it asks less often. */
  grant(id: string, wants: Amounts): { grants: number; granted: Amounts } | undefined {
    const child = this.#children.get(id);
    if (!child) return undefined;
    child.granted = sum(child.granted, wants);
    child.granted = sum(child.granted, slice(this.left));
    child.grantedBy.push(child.granted);
    return { grants: ++child.grants, granted: child.granted };
  }

  /** A child is told that it gets nothing. */
  refuse(id: string): { grants: number; granted: Amounts } | undefined {
    const child = this.#children.get(id);
    if (!child) return undefined;
    child.grantedBy.push(child.granted);
    return { grants: ++child.grants, granted: child.granted };
  }

  /** A child that only waits gives back what it holds and does not need. */
  giveBack(): void {
    const { granted } = this;
    if (!granted) return;
    const taken = sum(this.settled, this.held);
    this.returned = fromEach((dimension) => {
      const has = granted[dimension];
      return has === undefined ? 0 : Math.max(this.returned[dimension], has - Math.max(0, taken[dimension]));
    });
  }

  #allowed(dimension: Dimension): number | undefined {
    const granted = this.granted?.[dimension];
    return granted === undefined ? undefined : granted - this.returned[dimension];
  }
}

/** What a turn takes at most, with what attempts before it may have cost. */
export function needOf({ input, output, usd = 0 }: WorstCase, lost: number): Amounts {
  const times = 1 + lost;
  return { usd: usd * times, tokens: (input + output) * times, turns: times };
}

export function nothing(): Amounts {
  return { usd: 0, tokens: 0, turns: 0 };
}

export function sum(...amounts: readonly Partial<Amounts>[]): Amounts {
  return fromEach((dimension) => amounts.reduce((all, each) => all + (each[dimension] ?? 0), 0));
}

function minus(a: Amounts, b: Amounts): Amounts {
  return fromEach((dimension) => a[dimension] - b[dimension]);
}

export function isSome(amounts: Amounts): boolean {
  return DIMENSIONS.some((dimension) => amounts[dimension] > EPSILON);
}

function heldBy({ granted, report }: Child): Amounts {
  return minus(granted, report.returned);
}

function slice(left: Partial<Amounts>): Partial<Amounts> {
  const part: Partial<Amounts> = {};
  if (left.usd !== undefined) part.usd = left.usd / SLICE;
  if (left.tokens !== undefined) part.tokens = Math.floor(left.tokens / SLICE);
  if (left.turns !== undefined) part.turns = Math.floor(left.turns / SLICE);
  return part;
}

function fromEach(amount: (dimension: Dimension) => number): Amounts {
  return { usd: amount('usd'), tokens: amount('tokens'), turns: amount('turns') };
}

/** An allowance as a child is started with it. */
export function allowanceOf(
  granted: Partial<Amounts>,
  { onBreach, audience, unknownPrice, maxOutputTokens }: Omit<Allowance, 'granted' | 'until'>,
  until: number | undefined,
): Allowance {
  return {
    granted,
    ...(until !== undefined && { until }),
    ...(onBreach && { onBreach }),
    ...(audience !== undefined && { audience }),
    ...(unknownPrice && { unknownPrice }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
}
