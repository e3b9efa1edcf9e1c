/** The agents that are measured: one without a framework, and one of the OpenAI Agents SDK. */
import { OpenAIProvider, Runner, type AgentInputItem } from '@openai/agents';
import { agent, step, tool } from 'temporal-agents';
import { runAgent } from 'temporal-agents/openai-agents';
import { z } from 'zod';
import { given } from './kit/serve.ts';
import { callOf, inputOf, instructionsOf, needsApproval, type Task } from './kit/task.ts';
import { work } from './kit/tool-body.ts';

const parameters = z.object({ i: z.number(), bytes: z.number(), ms: z.number() });

/** The tool that every turn calls. */
const lookup = tool({
  name: 'lookup',
  description: 'Looks something up.',
  parameters,
  execute: async (call) => await work(call),
});

/** The same, where a person has to approve it. */
const guarded = tool({
  name: 'guarded',
  description: 'Looks up what is guarded.',
  parameters,
  requiresApproval: true,
  onUncertain: 'retry',
  execute: async (call) => await work(call),
});

/** Turns that answer in this process (as named steps: no model, no HTTP), and a tool after each. */
export const plain = agent('plain', async (task: Task) => {
  for (let i = 0; i <= task.calls; i++) {
    await step(`turn ${i}`, async () => await work({ bytes: task.answerBytes, ms: task.turnMs ?? 0 }));
    if (i < task.calls) await (needsApproval(task, i) ? guarded : lookup)(callOf(task, i));
  }
});

/** The SDK's loop, with a model over HTTP. */
export const assistant = agent('assistant', async (task: Task) => {
  const modelProvider = new OpenAIProvider({ baseURL: given.modelUrl, apiKey: 'none' });
  await runAgent(inputOf(task) as string | AgentInputItem[], {
    name: 'Assistant',
    model: 'gpt-4.1',
    instructions: instructionsOf(task),
    tools: [lookup, guarded],
    runner: new Runner({ modelProvider, tracingDisabled: true }),
    maxTurns: 10_000,
  });
});
