/**
 * The books of a budget: what is spent, what is held for turns under way and by children, and whether something more fits.
 * Whatever is held counts as spent until it is settled or given back, so that the sum never exceeds the budget.
 */
import type { Allowance, AllowanceReport, Amounts, Grant, WorstCase } from '../protocol/budget.ts';
import type { StepRecord } from '../protocol/step.ts';

type Dimension = keyof Amounts;
export const DIMENSIONS: readonly Dimension[] = ['usd', 'tokens', 'turns'];
/** Sums of dollars are not exact. */
const EPSILON = 1e-9;
/** A child gets this part of what is left as it starts, and beyond what it wants. */
const SLICE = 4;

/** A grant, by its number. */
type Granted = Pick<Grant, 'grants'> & { granted: Amounts };

interface Child {
  granted: Amounts;
  grants: number;
  /** All that was granted by then, by the number of the grant. */
  grantedBy: Map<number, Amounts>;
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
  /** Of turns whose attempts vanished, and which nobody asks for now: perhaps paid. */
  readonly #perhapsPaid = new Map<string, Amounts>();
  readonly #children = new Map<string, Child>();

  constructor(ended: Amounts = nothing()) {
    this.ended = ended;
  }

  /** Spent, by it and by its children that are over. */
  get settled(): Amounts {
    return sum(this.own, this.ended);
  }

  /** Held for turns that are under way, or were and may have been paid, and by children that run. */
  get held(): Amounts {
    return sum(
      ...this.#reserved.values(),
      ...this.#perhapsPaid.values(),
      ...[...this.#children.values()].map(heldBy),
    );
  }

  /** Spent, as far as children that run have told, too. */
  get spent(): Amounts {
    return sum(this.settled, this.#below);
  }

  /** The rest of what is held. */
  get reserved(): Amounts {
    return minus(this.held, this.#below);
  }

  get #below(): Amounts {
    return sum(
      ...[...this.#children.values()].map((child) => {
        const held = heldBy(child);
        return fromEach((dimension) => Math.min(held[dimension], child.report.settled[dimension]));
      }),
    );
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

  /** Something is held that will be settled or given back without a grant: a turn is under way, or a child goes on. */
  get mayRelease(): boolean {
    if (this.#reserved.size > 0) return true;
    return [...this.#children].some(([id, child]) => {
      const goesOn = !this.wantsOf(id) || child.report.busy;
      return goesOn && isSome(minus(heldBy(child), child.report.settled));
    });
  }

  reserve(key: string, need: Amounts): void {
    this.#reserved.set(key, need);
  }

  /** A turn is not under way any more, and has no answer. */
  release(key: string, perhapsPaid: boolean): void {
    const need = this.#reserved.get(key);
    this.#reserved.delete(key);
    if (!perhapsPaid) this.#perhapsPaid.delete(key);
    else if (need) this.#perhapsPaid.set(key, need);
  }

  /** A turn was answered, or failed. */
  settle({ key, kind, failure, usage, usd = 0, lost = 0, worst }: StepRecord): void {
    this.#reserved.delete(key);
    this.#perhapsPaid.delete(key);
    if (usage) {
      const times = 1 + lost;
      const tokens = (usage.input + usage.output) * times;
      this.own = sum(this.own, { usd: usd * times, tokens, turns: times });
    } else if (worst && lost > 0) this.own = sum(this.own, needOf(worst, lost));
    // It says nothing of tokens, but it was a turn.
    else if (kind === 'turn' && !failure) this.own = sum(this.own, { turns: 1 });
  }

  /** What a child may spend from its start on. */
  startChild(id: string): Partial<Amounts> {
    const granted = slice(this.left);
    this.#children.set(id, {
      granted: sum(granted),
      grants: 0,
      grantedBy: new Map([[0, sum(granted)]]),
      report: { grants: 0, returned: nothing(), settled: nothing() },
    });
    return granted;
  }

  hasChild(id: string): boolean {
    return this.#children.has(id);
  }

  get children(): string[] {
    return [...this.#children.keys()];
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

  /**
   * Takes what a child says. Sums only grow, and it gives back no more than it was given. Answers what it gave back now.
   */
  hear(id: string, { grants, returned, settled, wants, over, busy }: AllowanceReport): Amounts {
    const child = this.#children.get(id);
    if (!child) return nothing();
    const { returned: before, settled: settledBefore } = child.report;
    if (over) child.granted = child.grantedBy.get(grants) ?? child.granted;
    const gave = fromEach((dimension) =>
      Math.min(child.granted[dimension], Math.max(before[dimension], returned[dimension])),
    );
    child.report = {
      grants,
      returned: gave,
      settled: fromEach((dimension) => Math.max(settledBefore[dimension], settled[dimension])),
      ...(wants && { wants }),
      ...(busy && { busy }),
    };
    return minus(gave, before);
  }

  /** What a child waits for, unless an answer to it is on its way. */
  wantsOf(id: string): AllowanceReport['wants'] {
    const child = this.#children.get(id);
    return child && child.report.grants >= child.grants ? child.report.wants : undefined;
  }

  /** Grants a child what it wants, and a part of what is left besides, so that it asks less often. */
  grant(id: string, wants: Amounts): Granted | undefined {
    const child = this.#children.get(id);
    if (!child) return undefined;
    child.granted = sum(child.granted, wants);
    child.granted = sum(child.granted, slice(this.left));
    return nextGrant(child);
  }

  /** A child is told that it gets nothing. */
  refuse(id: string): Granted | undefined {
    const child = this.#children.get(id);
    return child && nextGrant(child);
  }

  /** A child gives back what it holds and does not need, or at most so much of that. */
  giveBack(atMost?: Amounts): void {
    const { granted } = this;
    if (!granted) return;
    const taken = sum(this.settled, this.held);
    this.returned = fromEach((dimension) => {
      const has = granted[dimension];
      if (has === undefined) return 0;
      const idle = Math.max(0, has - this.returned[dimension] - taken[dimension]);
      return this.returned[dimension] + Math.min(idle, atMost?.[dimension] ?? idle);
    });
  }

  #allowed(dimension: Dimension): number | undefined {
    const granted = this.granted?.[dimension];
    return granted === undefined ? undefined : granted - this.returned[dimension];
  }
}

/** What so many attempts at a turn take at most. */
export function needOf({ input, output, usd = 0 }: WorstCase, times: number): Amounts {
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

function nextGrant(child: Child): Granted {
  // It may have had one of which this run does not know: after a reset, or by somebody else.
  child.grants = Math.max(child.grants, child.report.grants) + 1;
  child.grantedBy.set(child.grants, child.granted);
  return { grants: child.grants, granted: child.granted };
}

/** An allowance with what was granted by now: sums only grow. */
export function grownBy(
  allowance: Allowance,
  { granted, until }: { granted: Amounts; until?: number | null },
): Allowance {
  const all = DIMENSIONS.flatMap((dimension) => {
    const before = allowance.granted[dimension];
    return before === undefined ? [] : [[dimension, Math.max(before, granted[dimension])] as const];
  });
  const { until: before, ...rest } = allowance;
  const by = until === undefined ? before : until;
  return { ...rest, granted: Object.fromEntries(all), ...(typeof by === 'number' && { until: by }) };
}
