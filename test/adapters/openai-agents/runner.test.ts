/** What the SDK's runner does around turns and tools: guardrails, hooks, what is dynamic, and the errors that it throws. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import {
  Agent,
  InputGuardrailTripwireTriggered,
  MaxTurnsExceededError,
  ModelBehaviorError,
  OutputGuardrailTripwireTriggered,
  run,
  Runner,
  tool as sdkTool,
  ToolInputGuardrailTripwireTriggered,
} from '@openai/agents';
import { z } from 'zod';
import { agent } from '../../../src/index.ts';
import { client, unique } from '../../kit/temporal.ts';
import { QUICK_START, startWorker } from '../../kit/workers.ts';
import { asked, callThenSay, count, scenario, scripts, timesRan, weather } from './scenarios.ts';

const model = 'gpt-4.1';
const trips = async () => ({ tripwireTriggered: true, outputInfo: 'no' });
const passes = async () => ({ tripwireTriggered: false, outputInfo: 'yes' });
scenario('guardrails that trip, by the classes of the SDK', {
  script: ({ body }) =>
    (body['tools'] as object[]).length > 0
      ? { toolCalls: [{ name: 'guarded', arguments: {} }] }
      : { text: 'said' },
  body: async (instructions) => {
    const base = { name: 'A', instructions, model };
    const guarded = sdkTool({
      name: 'guarded',
      description: 'Guarded.',
      parameters: z.object({}),
      execute: () => 'ran',
      inputGuardrails: [
        { name: 'never', run: async () => ({ outputInfo: 'no', behavior: { type: 'throwException' } }) },
      ],
    } as never);
    const agents = [
      new Agent({ ...base, inputGuardrails: [{ name: 'in', execute: trips, runInParallel: false }] }),
      new Agent({ ...base, outputGuardrails: [{ name: 'out', execute: trips }] }),
      new Agent({ ...base, tools: [guarded] }),
    ];
    const classes = [
      InputGuardrailTripwireTriggered,
      OutputGuardrailTripwireTriggered,
      ToolInputGuardrailTripwireTriggered,
    ];
    const seen = [];
    for (const [i, guardedAgent] of agents.entries()) {
      const error: unknown = await run(guardedAgent, 'Hi').catch((thrown: unknown) => thrown);
      const { error: within } = error as { error?: unknown };
      seen.push([error, within].some((each) => each instanceof classes[i]!) || (error as Error).stack);
    }
    return seen;
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual([true, true, true]),
});

scenario('errors of the runner, by their classes', {
  script: ({ messages }) =>
    messages[0]!.text === 'loop'
      ? { toolCalls: [{ name: 'weather', arguments: { city: `${messages.length}` } }] }
      : { toolCalls: [{ name: 'no_such_tool', arguments: {} }] },
  body: async (instructions) => {
    const looping = new Agent({ name: 'A', instructions, model, tools: [weather] });
    const errors = [
      await run(looping, 'loop', { maxTurns: 2 }).catch((error: unknown) => error),
      await run(looping, 'lost').catch((error: unknown) => error),
    ];
    return [
      errors[0] instanceof MaxTurnsExceededError,
      errors[1] instanceof ModelBehaviorError,
      ...errors.map((error) => (error as Error).message),
    ];
  },
  turns: 3,
  asOutside: true,
  expectThat: (live) => expect(live.slice(0, 2)).toEqual([true, true]),
});

scenario('what is dynamic: instructions, tools that are enabled, the place where tools end a run', {
  script: callThenSay({ name: 'weather', arguments: { city: 'Lima' } }),
  body: async (instructions) => {
    const off = sdkTool({
      name: 'off',
      description: 'Off.',
      parameters: z.object({}),
      isEnabled: async ({ runContext }) => (runContext.context as { on: boolean }).on,
      execute: () => 'never',
    });
    const dynamic = new Agent<{ on: boolean }>({
      name: 'A',
      instructions: async ({ context }) => (context.on ? 'never' : instructions),
      model,
      tools: [weather, off],
      toolUseBehavior: 'stop_on_first_tool',
      outputGuardrails: [{ name: 'out', execute: passes }],
    });
    const { finalOutput, outputGuardrailResults } = await run(dynamic, 'Hi', { context: { on: false } });
    return { finalOutput, guardrails: outputGuardrailResults.length };
  },
  turns: 1,
  asOutside: true,
  expectThat: (live) => {
    expect(live).toEqual({ finalOutput: '{"city":"Lima","weather":"22 C"}', guardrails: 1 });
    const name = 'what is dynamic: instructions, tools that are enabled, the place where tools end a run';
    const tools = asked(name)[0]!.body['tools'] as { name: string }[];
    expect(tools.map((each) => each.name)).toEqual(['weather']);
  },
});

const HOOKS = ['agent_start', 'agent_end', 'agent_tool_start', 'agent_tool_end'] as const;
scenario('hooks of an agent and of a runner, which fire in each loop', {
  script: callThenSay({ name: 'weather', arguments: { city: 'Bern' } }),
  body: async (instructions) => {
    const hooked = new Agent({ name: 'A', instructions, model, tools: [weather] });
    const runner = new Runner();
    const seen: string[] = [];
    for (const hook of HOOKS) {
      hooked.on(hook, () => void seen.push(`agent ${hook}`));
      runner.on(hook, () => void seen.push(`runner ${hook}`));
    }
    hooked.on('agent_end', () => count('hooked ends'));
    await runner.run(hooked, 'Hi');
    return seen.toSorted();
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) => {
    expect(live).toHaveLength(2 * HOOKS.length);
    expect(new Set(live).size).toBe(2 * HOOKS.length);
    expect(timesRan('hooked ends')).toBe(2);
  },
});

let begun = 0;
scenario('conversations that the provider continues, whichever is first', {
  script: ({ body }) => ({ text: JSON.stringify([body['conversation'], body['previous_response_id']]) }),
  body: async (instructions) => {
    const kept = new Agent({ name: 'A', instructions, model });
    const first = await run(kept, 'one', { previousResponseId: 'resp_0' });
    const next = await run(kept, 'two', { previousResponseId: first.lastResponseId! });
    const last = begun++ % 2;
    const [within, other] = await Promise.all(
      ['conv_1', 'conv_2'].map(async (conversationId, i) => {
        if (i === last) await delay(20);
        return await run(kept, 'one', { conversationId });
      }),
    );
    const outputs = [first, next, within!, other!].map(
      ({ finalOutput }) => JSON.parse(finalOutput!) as unknown[],
    );
    return { outputs, follows: (outputs[1] as string[])[1] === first.lastResponseId };
  },
  turns: 4,
  expectThat: (live) => {
    expect(live.follows).toBe(true);
    expect(live.outputs.map(([conversation]: unknown[]) => conversation)).toEqual([
      null,
      null,
      'conv_1',
      'conv_2',
    ]);
  },
});

test('an error of the runner that nobody catches is what the workflow fails with, by its name, and nothing is started again for it', async () => {
  let starts = 0;
  scripts['loops'] = ({ messages }) => ({
    toolCalls: [{ name: 'weather', arguments: { city: `${messages.length}` } }],
  });
  const looping = agent('looping', async () => {
    starts++;
    const calling = new Agent({ name: 'A', instructions: 'loops', model, tools: [weather] });
    return (await run(calling, 'Go', { maxTurns: 1 })).finalOutput;
  });
  const taskQueue = unique('looping');
  const worker = await startWorker({ taskQueue, plugin: { agents: [looping] } });
  const { workflow } = await client();
  const handle = await workflow.start('looping', { taskQueue, workflowId: taskQueue, ...QUICK_START });
  await expect(handle.result()).rejects.toMatchObject({
    cause: { type: 'MaxTurnsExceededError', message: 'Max turns (1) exceeded' },
  });
  await worker.stop();
  expect(starts).toBe(1);
});
