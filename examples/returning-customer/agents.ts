/** A clerk who knows each customer again: the conversation with one is kept under their name. */
import { agent } from 'temporal-agents';
import { runAgent } from 'temporal-agents/openai-agents';

export const clerk = agent('clerk', async ({ customer, says }: { customer: string; says: string }) => {
  return await runAgent(says, {
    name: 'Clerk',
    model: process.env['DEMO_MODEL'] ?? 'gpt-4.1-mini',
    instructions:
      'You serve the customers of a coffee shop. Use what they told you before. Answer in one sentence.',
    memoryKey: customer,
    // If they write twice at once, the second message waits until the first is answered.
    whenBusy: 'queue',
  });
});
