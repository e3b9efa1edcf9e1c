/** What the model says in the demo when there is no key: a script of the conversation, each turn found by what it was asked. */
import type { ProviderAnswer, ProviderRequest } from 'temporal-agents/testing';

const TURN_MS = 1_500;

export function scriptedSupport({ messages }: ProviderRequest): ProviderAnswer {
  const done = new Set(messages.flatMap((message) => message.toolResults.map((result) => result.name)));
  const usage = { inputTokens: 400 + 150 * messages.length, outputTokens: 40 };
  const call = (name: string, args: Record<string, unknown>): ProviderAnswer => ({
    toolCalls: [{ name, arguments: args }],
    delayMs: TURN_MS,
    usage,
  });
  if (!done.has('lookup_orders')) return call('lookup_orders', { accountId: 'acct-17' });
  if (!done.has('read_refund_policy')) return call('read_refund_policy', {});
  if (!done.has('check_defect')) return call('check_defect', { item: 'Espresso machine' });
  if (!done.has('issue_refund')) return call('issue_refund', { orderId: 'A-1001', amountUsd: 249 });
  const last = messages.at(-1)?.toolResults.at(-1)?.text ?? '';
  const text = last.includes('refundedUsd')
    ? 'Your espresso machine is within the 30 days of our policy, so $249 are on their way back to you. Sorry for the trouble.'
    : `The refund was not approved: ${last} I can offer you a repair instead.`;
  return { text, delayMs: TURN_MS, usage };
}
