/** The sample's workflow as an agent. */
import { Agent, run, tool } from '@openai/agents';
import { agent } from 'temporal-agents';
import 'temporal-agents/openai-agents';

const action = tool({
  name: 'dangerousAction',
  description: 'Performs a dangerous action that requires human approval before execution.',
  parameters: {
    type: 'object',
    properties: {
      reason: { type: 'string', description: 'The reason for performing the dangerous action.' },
    },
    required: ['reason'],
    additionalProperties: false,
  } as const,
  needsApproval: true,
  execute: async (args) => `did: ${(args as { reason: string }).reason}`,
});

const approver = new Agent({
  name: 'Approver',
  instructions: "You carry out the user's request using the dangerousAction tool.",
  tools: [action],
  modelSettings: { toolChoice: 'required' },
});

export const approvalWorkflow = agent('approvalWorkflow', async (): Promise<string> => {
  const result = await run(approver, 'Delete the old backup files.');
  return result.finalOutput ?? '';
});
