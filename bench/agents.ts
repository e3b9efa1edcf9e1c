import { agent, step, tool } from 'temporal-agents';
import { z } from 'zod';

export const lookup = tool({
  name: 'lookup',
  description: 'Looks something up.',
  parameters: z.object({ i: z.number() }),
  execute: async () => 'x'.repeat(500),
});

/** Turns that answer at once (as named steps: no model, no HTTP), and a tool after each. */
export const turnsAndTools = agent('turnsAndTools', async (turns: number) => {
  for (let i = 0; i < turns; i++) {
    await step(`turn ${i}`, () => 'x'.repeat(500));
    if (i < turns - 1) await lookup({ i });
  }
});
