/** What `requiresApproval` says of one call of a tool. */
import type { Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { DeclarationError } from '../errors/index.ts';
import { assertKnownOptions } from '../known-options.ts';
import type { StepApproval } from '../protocol/step.ts';
import { assertLimits } from './retries-and-timeouts.ts';
import type { JsonSchema } from './schema.ts';

/** Text for the person, or whether this call needs one at all: `true` asks with the usual text, `false` asks nobody. */
export type ApprovalPrompt<Args> = (args: Args) => string | boolean | Promise<string | boolean>;

/** How a call is approved. */
export interface ApprovalOptions<Args> {
  /** What the person reads, or a function that says so for a call. @default 'Run <name>?' */
  prompt?: string | ApprovalPrompt<Args>;
  /** How long a decision is waited for, from when it was asked. @default for ever */
  timeout?: Duration;
  /**
   * What then happens: a decision, recorded as made by timeout, or others are asked, with a time of their own.
   * @default 'reject'
   */
  onTimeout?: 'reject' | 'approve' | { escalate: Escalation };
  /** Whom it concerns: shown with the question; restricts nobody. */
  audience?: string;
  /**
   * The person may change the arguments, to what fits the parameters: the call is made with theirs, and the model is told
   * so. @default false
   */
  allowEdit?: boolean;
}

/** Who is asked when nobody decided in time. */
export interface Escalation {
  /** Whom it concerns then. */
  audience?: string;
  /** How long a decision is waited for from then on. @default for ever */
  timeout?: Duration;
  /** What happens then. @default 'reject' */
  onTimeout?: 'reject' | 'approve';
}

/** `true`, the text, a function of the arguments, or all options. */
export type ApprovalRule<Args> = boolean | string | ApprovalPrompt<Args> | ApprovalOptions<Args>;

/**
 * The approval that a call needs; `undefined`: none.
 * @param of what the person reads where the rule does not say, and what changed arguments must fit
 */
export async function approvalFor<Args>(
  rule: ApprovalRule<Args> | undefined,
  args: Args,
  of: { prompt: string; schema: () => JsonSchema },
): Promise<StepApproval | undefined> {
  const options: ApprovalOptions<Args> = typeof rule === 'object' ? rule : {};
  const { timeout, onTimeout, audience, allowEdit } = options;
  const prompt = typeof rule === 'object' ? (rule.prompt ?? true) : (rule ?? false);
  const text = typeof prompt === 'function' ? await prompt(args) : prompt;
  if (text === false) return undefined;
  return {
    prompt: text === true ? of.prompt : text,
    ...(allowEdit && { edit: of.schema() }),
    ...(typeof onTimeout === 'object'
      ? { ...limits({ timeout, audience }), escalate: limits(onTimeout.escalate) }
      : limits({ timeout, onTimeout, audience })),
  };
}

function limits({ timeout, onTimeout, audience }: Undefinable<Escalation>): Omit<StepApproval, 'prompt'> {
  return {
    ...(timeout !== undefined && { timeoutMs: msToNumber(timeout) }),
    ...(onTimeout !== undefined && { onTimeout }),
    ...(audience !== undefined && { audience }),
  };
}

type Undefinable<T> = { [Field in keyof T]: T[Field] | undefined };

const ESCALATION_OPTIONS = new Set(['timeout', 'onTimeout', 'audience']);
const APPROVAL_OPTIONS = new Set(['prompt', 'timeout', 'onTimeout', 'audience', 'allowEdit']);

/**
 * @param cannot how the message begins: "Cannot declare tool search"
 * @throws DeclarationError for a rule that cannot be meant
 */
export function assertApprovalRule(cannot: string, rule: ApprovalRule<any> | undefined): void {
  if (rule === null || typeof rule === 'number') {
    throw new DeclarationError(
      `${cannot}: "requiresApproval" must be true, a text, a function of the arguments, or an object.`,
    );
  }
  if (typeof rule !== 'object') return;
  assertKnownOptions(rule, APPROVAL_OPTIONS, `${cannot}: "requiresApproval"`);
  if (!['boolean', 'undefined'].includes(typeof rule.allowEdit))
    throw new DeclarationError(`${cannot}: "allowEdit" must be true or false.`);
  assertTimeout(cannot, rule);
  if (typeof rule.onTimeout !== 'object') return;
  const { escalate } = rule.onTimeout;
  if (typeof escalate !== 'object' || escalate === null)
    throw new DeclarationError(`${cannot}: "escalate" must be an object with whom to ask then.`);
  assertKnownOptions(escalate, ESCALATION_OPTIONS, `${cannot}: "escalate"`);
  assertTimeout(cannot, escalate);
  if (typeof escalate.onTimeout === 'object')
    throw new DeclarationError(`${cannot}: an escalation ends with 'reject' or 'approve'.`);
}

function assertTimeout(
  cannot: string,
  { timeout, onTimeout }: Pick<ApprovalOptions<any>, 'timeout' | 'onTimeout'>,
): void {
  assertLimits({ timeout }, ['timeout'], cannot);
  const known = ['reject', 'approve', undefined].includes(onTimeout as string);
  if (!known && (typeof onTimeout !== 'object' || onTimeout === null))
    throw new DeclarationError(`${cannot}: "onTimeout" must be 'reject', 'approve' or { escalate }.`);
  if (onTimeout !== undefined && timeout === undefined)
    throw new DeclarationError(`${cannot}: "onTimeout" needs a "timeout".`);
}
