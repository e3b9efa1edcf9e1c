/** What a run may spend, and how that is shared between a run and its children. Types only. */
import type { Duration } from '@temporalio/common';
import type { StepFailure } from './step.ts';

/** What a run, with all its children, may spend. What is absent is not limited. */
export interface Budget {
  /** US dollars. */
  usd?: number;
  /** Tokens, in and out, those from the provider's cache included. */
  tokens?: number;
  /** Model turns. */
  turns?: number;
  /**
   * Since the run began, over all histories of its chain, waits for people included. Looked at before each model turn:
   * what is under way is not cut off (`workflowExecutionTimeout` of Temporal does that).
   */
  wallTime?: Duration;
  /**
   * What happens when a turn might cost more than is left: `fail`, the turn fails with BudgetExceededError; `ask`, a person
   * may raise the budget, by the same doors as approvals, or end the run. @default 'fail'
   */
  onBreach?: 'fail' | 'ask';
  /** Whom a breach concerns: shown with the question; restricts nobody. */
  audience?: string;
  /** A turn of a model whose price nobody knows, where dollars are limited: it counts as over budget, or as free. @default 'refuse' */
  unknownPrice?: 'refuse' | 'allow';
  /** How many tokens a turn answers at most, where its request sets no limit; what the worst case is made of. @default 4,096 */
  maxOutputTokens?: number;
}

/** A budget as a run has it. */
export interface BudgetLimits extends Omit<Budget, 'wallTime'> {
  wallTimeMs?: number;
}

/** What is limited by number. */
export interface Amounts {
  usd: number;
  tokens: number;
  turns: number;
}

/** What a turn may cost at most; without dollars, nobody knows its price. */
export interface WorstCase {
  /** Tokens. */
  input: number;
  output: number;
  usd?: number;
}

/** How a budget that does not suffice is dealt with. */
export type BudgetRules = Pick<Budget, 'onBreach' | 'audience' | 'unknownPrice' | 'maxOutputTokens'>;

/** What a child may spend of its parent's budget, from its start on. */
export interface Allowance {
  granted: Partial<Amounts>;
  /** Milliseconds since 1970. */
  until?: number;
  /** Its parent's, where its own budget has none. */
  rules: BudgetRules;
}

/** What a child says of its allowance. Sums only grow, so that it does not matter which report comes first. */
export interface AllowanceReport {
  /** How many grants it has had. */
  grants: number;
  /** All that it gave back. */
  returned: Amounts;
  /** What it will never give back: spent, by it and by its children that are over. */
  settled: Amounts;
  /** What it waits for beyond what it has, and what for, in words; `late`: its time was over then, in milliseconds since 1970. */
  wants?: Amounts & { what?: string; late?: number };
  /** Something is held that may turn out cheaper without anybody's doing. */
  busy?: true;
  /** It is over: a grant that it has not had by now, it will not use. */
  over?: true;
}

/** What a parent answers to a child that wants more: all that it ever granted, or why it grants nothing. */
export interface Grant {
  /** Its number, from 1. */
  grants: number;
  granted: Partial<Amounts>;
  /** `null`: its time is not limited, or no more. */
  until?: number | null;
  refused?: StepFailure;
  /** A person refused to raise the budget: nothing more is spent. */
  final?: true;
}

/** A budget as it goes over to the next run of the chain. */
export interface BudgetCarry {
  /** When the first run of the chain began; milliseconds since 1970. */
  startedAt: number;
  /** By how much people raised it, and how often they were asked. */
  raised: Amounts;
  asked: number;
  /** Until when there is time, as people said. */
  until?: number;
  pricesUnknown?: true;
  /** A person refused to raise it: why. */
  denied?: StepFailure;
  /** What children that are over had been given and did not give back. */
  children: Amounts;
  /** Of a child: what it was granted and gave back. */
  allowance?: Allowance & { grants: number; returned: Amounts };
}

/** How a budget stands. */
export interface BudgetState {
  limits: BudgetLimits;
  /** Spent, by it and below, as far as children that run have told. */
  spent: Amounts;
  /** Held for turns that are under way, or may have been paid by an attempt that vanished, and by children that run. */
  reserved: Amounts;
  /** What may still be reserved, where it is limited. */
  left: Partial<Amounts>;
  /** When its time is over; milliseconds since 1970. */
  until?: number;
}
