/** What `requiresApproval` says of one call of a tool. */
import type { Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import type { StepApproval } from '../protocol/step.ts';

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
  const options: { prompt?: boolean | string | ApprovalPrompt<Args> } & Omit<
    ApprovalOptions<Args>,
    'prompt'
  > = typeof rule === 'object' ? rule : { prompt: rule ?? false };
  const { prompt = true, timeout, onTimeout, audience } = options;
  const text = typeof prompt === 'function' ? await prompt(args) : prompt;
  if (text === false) return undefined;
  return {
    prompt: text === true ? `Run ${name}?` : text,
    ...(timeout !== undefined && { timeoutMs: msToNumber(timeout) }),
    ...(onTimeout !== undefined && { onTimeout }),
    ...(audience !== undefined && { audience }),
  };
}
