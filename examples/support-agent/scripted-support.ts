/** What the model says when there is no key: it looks the order up, refunds it, and tells what came of it. */
import type { ProviderAnswer, ProviderRequest } from 'temporal-agents/testing';

export function scriptedSupport({ messages }: ProviderRequest): ProviderAnswer {
  const [order = 'A-17'] = /A-\d+/.exec(messages.map(({ text }) => text).join('\n')) ?? [];
  const results = messages.flatMap(({ toolResults }) => toolResults);
  const [found] = results;
  if (!found) return { toolCalls: [{ name: 'look_up_order', arguments: { order } }] };
  const [, usd] = /"usd":(\d+)/.exec(found.text) ?? [];
  if (usd === undefined) return { text: found.text };
  const [, settled] = results;
  if (settled) return { text: `I looked into it: ${settled.text}` };
  return { toolCalls: [{ name: 'refund', arguments: { order, usd: Number(usd) } }] };
}
