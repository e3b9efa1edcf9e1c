/** A support agent as LangChain's users write it: `createAgent`, tools, and middleware that has people look at refunds. */
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { agent } from 'temporal-agents';
import { runAgent } from 'temporal-agents/langchain';
import { z } from 'zod';

const ORDERS: Record<string, { item: string; usd: number; delivered: boolean }> = {
  'A-17': { item: 'espresso machine', usd: 240, delivered: true },
  'A-18': { item: 'grinder', usd: 80, delivered: false },
};

const lookUpOrder = tool(({ order }) => ORDERS[order] ?? `There is no order ${order}.`, {
  name: 'look_up_order',
  description: 'What was ordered, for how much, and whether it came.',
  schema: z.object({ order: z.string() }),
});

const refund = tool(({ order, usd }) => `$${usd} paid back for order ${order}.`, {
  name: 'refund',
  description: 'Pays money back for an order.',
  schema: z.object({ order: z.string(), usd: z.number().positive() }),
});

const assistant = createAgent({
  model: `openai:${process.env['DEMO_MODEL'] ?? 'gpt-4.1-mini'}`,
  tools: [lookUpOrder, refund],
  systemPrompt:
    'You help customers of a coffee shop. Look orders up before you refund. Answer in one sentence.',
  middleware: [
    humanInTheLoopMiddleware({
      interruptOn: { refund: { allowedDecisions: ['approve', 'edit', 'reject'] } },
    }),
  ],
});

export const support = agent(
  'support',
  async (question: string) => await runAgent(question, { agent: assistant }),
);
