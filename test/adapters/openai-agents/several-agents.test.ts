import { expect } from '@jest/globals';
import { Agent, run, Runner, tool as sdkTool } from '@openai/agents';
import { z } from 'zod';
import { runAgent } from '../../../adapters/openai-agents/index.ts';
import { asked, callThenSay, count, scenario, scripts, timesRan, toolTexts, weather } from './scenarios.ts';

const model = 'gpt-4.1';

scenario('agents as tools, side by side, and a handoff', {
  script: (request) => {
    if (request.messages.length === 1) {
      return {
        toolCalls: ['Paris', 'Paris', 'Rome'].map((input) => ({ name: 'expert', arguments: { input } })),
      };
    }
    return toolTexts(request).length === 3
      ? { toolCalls: [{ name: 'transfer_to_Closer', arguments: {} }] }
      : undefined;
  },
  body: async (instructions) => {
    scripts['expert'] = callThenSay({ name: 'weather', arguments: { city: 'everywhere' } });
    scripts['closer'] = (request) => ({ text: `closed: ${toolTexts(request).slice(0, 3).join(' and ')}` });
    const expert = new Agent({ name: 'Expert', instructions: 'expert', tools: [weather], model });
    expert.on('agent_end', () => count('the expert ends'));
    const closer = new Agent({ name: 'Closer', instructions: 'closer', model });
    const tools = [expert.asTool({ toolName: 'expert', toolDescription: 'Knows the weather.' })];
    const { finalOutput, lastAgent, state } = await run(
      new Agent({ name: 'A', instructions, tools, handoffs: [closer], model }),
      'Go',
    );
    return {
      finalOutput,
      by: lastAgent?.name,
      usage: { requests: state.usage.requests, all: state.usage.requestUsageEntries?.length },
    };
  },
  turns: 2,
  expectThat: (live, { records }) => {
    const said = '{"city":"everywhere","weather":"22 C"}';
    expect(live).toEqual({
      finalOutput: `closed: ${said} and ${said} and ${said}`,
      by: 'Closer',
      usage: { requests: 9, all: 9 },
    });
    expect(records).toHaveLength(12);
    expect(new Set(records.map(({ key }) => key)).size).toBe(12);
    expect([asked('expert').length, asked('closer').length]).toEqual([6, 1]);
    expect(timesRan('weather everywhere')).toBe(3);
    // Hooks belong to the agent's own objects, and fire in both workers.
    expect(timesRan('the expert ends')).toBe(6);
  },
});

scenario('a guardrail that asks an agent of its own', {
  script: () => ({ text: 'answered' }),
  body: async (instructions) => {
    scripts['guard'] = () => ({ text: JSON.stringify({ allowed: true }) });
    const guard = new Agent({
      name: 'Guard',
      instructions: 'guard',
      model,
      outputType: z.object({ allowed: z.boolean() }),
    });
    const agent = new Agent({
      name: 'A',
      instructions,
      model,
      inputGuardrails: [
        {
          name: 'allowed',
          execute: async ({ input, context }) => {
            const { finalOutput } = await run(guard, input, { context });
            return { tripwireTriggered: !finalOutput?.allowed, outputInfo: finalOutput };
          },
        },
      ],
    });
    const { finalOutput, inputGuardrailResults } = await new Runner().run(agent, 'Hi');
    return [finalOutput, inputGuardrailResults[0]!.output];
  },
  turns: 1,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toEqual(['answered', { tripwireTriggered: false, outputInfo: { allowed: true } }]);
    expect(records.map(({ kind }) => kind)).toEqual(['turn', 'turn']);
  },
});

scenario('several runs of the SDK in one agent', {
  script: ({ messages }) => ({ text: `to ${messages.at(-1)!.text}` }),
  body: async (instructions) => {
    const agent = new Agent({ name: 'A', instructions, model });
    const both = await Promise.all(
      ['a', 'b', 'a'].map(async (input) => (await run(agent, input)).finalOutput),
    );
    const last = await run(agent, both.join());
    return [
      ...both,
      last.finalOutput,
      (await run(agent, [...last.history, { role: 'user', content: 'more' }])).finalOutput,
    ];
  },
  turns: 5,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual(['to a', 'to b', 'to a', 'to to a,to b,to a', 'to more']),
});

scenario('an agent that the body of a tool runs, which is part of that one step', {
  script: callThenSay({ name: 'delegate', arguments: {} }),
  body: async (instructions) => {
    scripts['delegated'] = callThenSay({ name: 'weather', arguments: { city: 'Quito' } });
    const delegate = sdkTool({
      name: 'delegate',
      description: 'Asks another.',
      parameters: z.object({}),
      execute: async () => await runAgent('Do', { instructions: 'delegated', model, tools: [weather] }),
    });
    return await runAgent('Do', { instructions, model, tools: [delegate] });
  },
  turns: 2,
  expectThat: (live, { records }) => {
    expect(live).toBe('{"city":"Quito","weather":"22 C"}');
    expect(records.map(({ kind }) => kind)).toEqual(['turn', 'tool', 'turn']);
    expect(asked('delegated')).toHaveLength(2);
  },
});
