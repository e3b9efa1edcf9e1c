/** Models of the AI SDK, by `aisdk()`: of a package with a copy of the SDK's core of its own. */
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, type Model, run } from '@openai/agents';
import { aisdk } from '@openai/agents-extensions/ai-sdk';
import { expect } from '@jest/globals';
import { z } from 'zod';
import { runAgent, toAgentTool } from '../../../adapters/openai-agents/index.ts';
import { tool } from '../../../src/index.ts';
import { provider, scenario } from './scenarios.ts';

const model = () => {
  const openai = createOpenAI({ baseURL: provider.url, apiKey: 'none' });
  // Its types are of another version of the core, and its name is its own secret.
  return aisdk(openai.responses('gpt-bridged')) as unknown as Model;
};
const weather = tool({
  name: 'weather',
  description: 'The weather.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `sunny in ${city}`,
});

scenario('a model of the AI SDK, with a tool', {
  script: ({ messages }) => {
    const result = messages.at(-1)!.toolResults[0];
    if (result) return { text: `It is ${result.text}.` };
    return { toolCalls: [{ name: 'weather', arguments: { city: 'Rome' } }] };
  },
  body: async (instructions) =>
    await runAgent('Weather?', {
      agent: new Agent({ name: 'A', instructions, model: model(), tools: [toAgentTool(weather)] }),
    }),
  turns: 2,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toBe('It is sunny in Rome.');
    expect(records.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'turn AiSdkModel',
      'tool weather',
      'turn AiSdkModel',
    ]);
    expect(records[0]!.usage).toMatchObject({ input: expect.any(Number), output: expect.any(Number) });
  },
});

scenario('a model of the AI SDK, streamed', {
  script: () => ({ text: 'one two three' }),
  body: async (instructions) => {
    const result = await run(new Agent({ name: 'A', instructions, model: model() }), 'Count', {
      stream: true,
    });
    let text = '';
    for await (const delta of result.toTextStream()) text += delta;
    return { text, output: result.finalOutput };
  },
  turns: 1,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual({ text: 'one two three', output: 'one two three' }),
});
