/** What `requiresApproval` says of one call of a tool. */
import type { Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { DeclarationError } from '../errors/index.ts';
import { assertKnownOptions } from '../known-options.ts';
import type { StepApproval } from '../protocol/step.ts';
import { assertLimits } from './retries-and-timeouts.ts';

/** Text for the person, or whether this call needs one at all: `true` asks with the usual text, `false` asks nobody. */
export type ApprovalPrompt<Args> = (args: Args) => string | boolean | Promise<string | boolean>;

/** How a call is approved. */
export interface ApprovalOptions<Args> {
  /** What the person reads, or a function that says so for a call. @default 'Run <name>?' */
  prompt?: string | ApprovalPrompt<Args>;
  /** How long a decision is waited for, from when it was asked. @default for ever */
  timeout?: Duration;
  /** What then happens. The decision is recorded as made by timeout. @default 'reject' */
  onTimeout?: 'reject' | 'approve';
  /** Whom it concerns: shown with the question; restricts nobody. */
  audience?: string;
}

/** `true`, the text, a function of the arguments, or all options. */
export type ApprovalRule<Args> = boolean | string | ApprovalPrompt<Args> | ApprovalOptions<Args>;

/** The approval that a call needs; `undefined`: none. */
export async function approvalFor<Args>(
  name: string,
  rule: ApprovalRule<Args> | undefined,
  args: Args,
): Promise<StepApproval | undefined> {
  const { timeout, onTimeout, audience }: ApprovalOptions<Args> = typeof rule === 'object' ? rule : {};
  const prompt = typeof rule === 'object' ? (rule.prompt ?? true) : (rule ?? false);
  const text = typeof prompt === 'function' ? await prompt(args) : prompt;
  if (text === false) return undefined;
  return {
    prompt: text === true ? `Run ${name}?` : text,
    ...(timeout !== undefined && { timeoutMs: msToNumber(timeout) }),
    ...(onTimeout !== undefined && { onTimeout }),
    ...(audience !== undefined && { audience }),
  };
}

const APPROVAL_OPTIONS = new Set(['prompt', 'timeout', 'onTimeout', 'audience']);

/** @throws DeclarationError for a rule that cannot be meant, of the tool of this name */
export function assertApprovalRule(name: string, rule: ApprovalRule<any> | undefined): void {
  const cannot = `Cannot declare tool ${name}`;
  if (rule === null || typeof rule === 'number') {
    throw new DeclarationError(
      `${cannot}: "requiresApproval" must be true, a text, a function of the arguments, or an object.`,
    );
  }
  if (typeof rule !== 'object') return;
  assertKnownOptions(rule, APPROVAL_OPTIONS, `${cannot}: "requiresApproval"`);
  assertLimits(rule, ['timeout'], cannot);
  if (!['reject', 'approve', undefined].includes(rule.onTimeout)) {
    throw new DeclarationError(`${cannot}: "onTimeout" must be 'reject' or 'approve'.`);
  }
  if (rule.onTimeout !== undefined && rule.timeout === undefined) {
    throw new DeclarationError(`${cannot}: "onTimeout" needs a "timeout".`);
  }
}
