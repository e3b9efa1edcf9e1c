/** What the model says when there is no key: it proposes a refund, and tells what came of it. */
import type { ProviderAnswer, ProviderRequest } from 'temporal-agents/testing';

export function scriptedModel({ messages }: ProviderRequest): ProviderAnswer {
  const [result] = messages.at(-1)!.toolResults;
  if (result) return { text: `Settled. ${result.text}` };
  const [, order = 'A-17'] = /Order ([\w-]+)/.exec(messages.map(({ text }) => text).join('\n')) ?? [];
  const before = messages.some(({ toolResults }) => toolResults.length > 0);
  if (before) return { text: 'As I said, that is settled.' };
  return { toolCalls: [{ name: 'issue_refund', arguments: { order, usd: 240 } }] };
}
