/** A support agent: the OpenAI Agents SDK owns its loop; its model turns and tools are durable. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { agent, tool } from 'temporal-agents';
import { runAgent } from 'temporal-agents/openai-agents';
import { z } from 'zod';

interface Order {
  orderId: string;
  customer: string;
  item: string;
  paidUsd: number;
  deliveredDaysAgo: number;
  state: string;
}

const data = (file: string) => readFile(new URL(`./data/${file}`, import.meta.url), 'utf8');

export const lookupOrders = tool({
  name: 'lookup_orders',
  description: 'All orders of a customer account.',
  parameters: z.object({ accountId: z.string() }),
  readOnly: true,
  execute: async ({ accountId }) => {
    await delay(300);
    const orders = JSON.parse(await data('orders.json')) as Order[];
    return orders.filter((order) => order.customer === accountId);
  },
});

export const readPolicy = tool({
  name: 'read_refund_policy',
  description: 'The refund policy, as text.',
  parameters: z.object({}),
  readOnly: true,
  execute: async () => {
    await delay(300);
    return await data('refund-policy.md');
  },
});

export const checkDefect = tool({
  name: 'check_defect',
  description: 'Whether a defect is known for an item.',
  parameters: z.object({ item: z.string() }),
  readOnly: true,
  execute: async ({ item }) => {
    await delay(800);
    return { item, knownDefect: /espresso/i.test(item) };
  },
});

export const issueRefund = tool({
  name: 'issue_refund',
  description: 'Refunds an order. Irreversible.',
  parameters: z.object({ orderId: z.string(), amountUsd: z.number() }),
  requiresApproval: ({ orderId, amountUsd }) => `Refund $${amountUsd} for order ${orderId}?`,
  execute: async ({ orderId, amountUsd }, { idempotencyKey }) => ({
    orderId,
    refundedUsd: amountUsd,
    // What a payment provider would get, so that it pays once whatever happens.
    receipt: `re_${idempotencyKey.slice(-12)}`,
  }),
});

export const support = agent('support', async (question: string) => {
  return await runAgent(question, {
    name: 'Support',
    model: process.env['DEMO_MODEL'] ?? 'gpt-4.1-mini',
    instructions:
      'You help customers of a coffee shop. Work in steps, one tool at a time: look up the orders of the account, read the refund policy, check whether the item has a known defect, and if the policy allows it issue the refund. Then answer in two sentences.',
    tools: [lookupOrders, readPolicy, checkDefect, issueRefund],
  });
});
