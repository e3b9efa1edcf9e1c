/** The same agent for the official plugin: its loop runs in the workflow sandbox. */
import { Agent, tool } from '@openai/agents-core';
import { activityAsTool, TemporalOpenAIRunner } from '@temporalio/openai-agents/workflow';
import { condition, defineQuery, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import { inputOf, instructionsOf, type Call, type Task } from '../kit/task.ts';

interface Activities {
  lookup: (call: Call) => Promise<string>;
}
const number = { type: 'number' };
const parameters = {
  type: 'object' as const,
  properties: { i: number, bytes: number, ms: number },
  required: ['i', 'bytes', 'ms'],
  additionalProperties: false as const,
};
// The times that a tool of temporal-agents has if nothing is said.
const toolOptions = { startToCloseTimeout: '5m', heartbeatTimeout: '10s' } as const;
const activities = proxyActivities<Activities>(toolOptions);

/** Heartbeats of the model's activity are off unless they are set; then a lost worker is noticed after a minute. */
export async function assistant(task: Task): Promise<void> {
  await run(task, {});
}

/** As above, with the heartbeats that the plugin offers. */
export async function assistantWithHeartbeats(task: Task): Promise<void> {
  await run(task, { heartbeatTimeout: '10s' });
}

async function run(task: Task, modelParams: { heartbeatTimeout?: '10s' }): Promise<void> {
  let approved = 0;
  let asked = 0;
  setHandler(defineSignal('approve'), () => void approved++);
  setHandler(defineQuery('waiting'), () => ({
    approvals: asked > approved ? [{ id: `guarded-${asked}` }] : [],
  }));
  const agent = new Agent({
    name: 'Assistant',
    model: 'gpt-4.1',
    instructions: instructionsOf(task),
    tools: [
      activityAsTool<Activities['lookup']>(
        { name: 'lookup', description: 'Looks something up.', parameters },
        toolOptions,
      ),
      tool({
        name: 'guarded',
        description: 'Looks up what is guarded.',
        parameters,
        needsApproval: true,
        execute: async (call) => await activities.lookup(call as Call),
      }),
    ],
  });
  const runner = new TemporalOpenAIRunner({ defaultModelParams: modelParams });
  const options = { maxTurns: 10_000, runConfig: { tracingDisabled: true } };
  let result = await runner.run(agent, inputOf(task), options);
  while (result.interruptions.length > 0) {
    asked++;
    await condition(() => approved >= asked);
    for (const interruption of result.interruptions) result.state.approve(interruption);
    result = await runner.run(agent, result.state, options);
  }
}
