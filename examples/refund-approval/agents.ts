/** Refunds: what a model proposes, a person decides, from a hundred dollars on. */
import { agent, inbox, tool } from 'temporal-agents';
import { runAgent } from 'temporal-agents/openai-agents';
import { z } from 'zod';

export const issueRefund = tool({
  name: 'issue_refund',
  description: 'Pays money back to the customer who placed an order.',
  parameters: z.object({ order: z.string(), usd: z.number().positive().max(1_000) }),
  requiresApproval: {
    prompt: ({ order, usd }) => usd >= 100 && `Refund $${usd} for order ${order}?`,
    allowEdit: true,
    audience: 'support',
    timeout: '2 days',
    onTimeout: { escalate: { audience: 'head of support' } },
  },
  // Here the payment provider would be called, with the key: it pays once, however often it is asked.
  execute: ({ order, usd }, { idempotencyKey: _key }) => `$${usd} paid back for order ${order}`,
});

/** One run an order: the first complaint starts it, later ones reach the same conversation. */
export const refunds = agent('refunds', async (order: string) => {
  const complaint = await inbox.next();
  return await runAgent(`Order ${order}: ${complaint!.text}`, {
    name: 'Refunds',
    model: process.env['DEMO_MODEL'] ?? 'gpt-4.1-mini',
    instructions:
      'You settle complaints about orders. Refund what is fair, then say in one sentence what you did.',
    tools: [issueRefund],
    onMessage: 'after',
  });
});
