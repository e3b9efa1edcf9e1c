import { expect } from '@jest/globals';
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIProvider,
  OpenAIResponsesModel,
  retryPolicies,
  run,
  Runner,
} from '@openai/agents';
import OpenAI from 'openai';
import { runAgent } from '../../../adapters/openai-agents/index.ts';
import type { ProviderScript } from '../../../src/testing/index.ts';
import { errorSeen, provider, scenario } from './scenarios.ts';

const named = (instructions: string, model?: string) =>
  new Agent({ name: 'A', instructions, ...(model !== undefined && { model }) });
const openAIClient = () => new OpenAI({ baseURL: provider.url, apiKey: 'none' }) as never;
const answer: ProviderScript = ({ api, model }) => ({ text: `${model} by ${api}` });

scenario('a model instance of an agent', {
  script: answer,
  body: async (instructions) => {
    const model = new OpenAIResponsesModel(openAIClient(), 'gpt-instance');
    return (await run(new Agent({ name: 'A', instructions, model }), 'Hi')).finalOutput;
  },
  turns: 1,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toBe('gpt-instance by responses');
    expect(records).toMatchObject([{ kind: 'turn', name: 'gpt-instance' }]);
  },
});

scenario('a chat model of a runner', {
  script: answer,
  body: async (name) => {
    const runner = new Runner({ model: new OpenAIChatCompletionsModel(openAIClient(), 'gpt-chat') });
    return await runAgent('Hi', { agent: named(name), runner });
  },
  turns: 1,
  asOutside: true,
  expectThat: (live) => expect(live).toBe('gpt-chat by chat'),
});

scenario('a provider of a runner', {
  script: answer,
  body: async (name) => {
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ openAIClient: openAIClient(), useResponses: false }),
    });
    return (await runner.run(named(name, 'gpt-provided'), 'Hi')).finalOutput;
  },
  turns: 1,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toBe('gpt-provided by chat');
    expect(records).toMatchObject([{ kind: 'turn', name: 'gpt-provided' }]);
  },
});

scenario('no model at all', {
  script: answer,
  body: async (name) => (await run(named(name), 'Hi')).finalOutput,
  turns: 1,
  asOutside: true,
  expectThat: (live, { records }) => expect(live).toBe(`${records[0]!.name} by responses`),
});

scenario('ids that are other each time', {
  script: ({ messages }) => ({ text: `${messages.length}` }),
  body: async (name) => {
    const id = () => `id_${Math.random()}`;
    const [callId, otherId] = [id(), id()];
    const call = { type: 'function_call', name: 'look', status: 'completed' } as const;
    const output = (text: string) => ({ type: 'text', text }) as const;
    const providerId = id();
    const input = [
      {
        ...call,
        id: providerId,
        callId,
        arguments: '{"at":1}',
        providerData: { id: providerId, type: 'function_call' },
      },
      { ...call, id: id(), callId: otherId, arguments: '{"at":2}' },
      { ...call, type: 'function_call_result', id: id(), callId: otherId, output: output('two') } as const,
      { ...call, type: 'function_call_result', id: id(), callId, output: output('one') } as const,
    ];
    return (await run(named(name, 'gpt-4.1'), input)).finalOutput;
  },
  turns: 1,
  expectThat: (live) => expect(live).toBe('4'),
});

scenario('a provider that is limited once', {
  script: ({ attempt }) =>
    attempt === 1 ? { status: 429, headers: { 'retry-after-ms': '50' } } : { text: 'at last' },
  body: async (name) => (await run(named(name, 'gpt-4.1'), 'Hi')).finalOutput,
  turns: 2,
  expectThat: (live, { records }) => {
    expect(live).toBe('at last');
    // The step was tried again, not the request within it.
    expect(records).toMatchObject([{ attempts: 2 }]);
  },
});

scenario('a provider that refuses', {
  script: () => ({
    status: 400,
    errorBody: { error: { message: 'No.', type: 'invalid', code: 'no_way', param: null } },
  }),
  body: async (name) => await run(named(name, 'gpt-4.1'), 'Hi').catch(errorSeen),
  turns: 1,
  expectThat: (live) =>
    expect(live).toEqual({ name: 'BadRequestError', message: '400 No.', code: 'no_way', status: 400 }),
});

scenario("the SDK's own retries of a model", {
  script: ({ attempt }) => (attempt < 3 ? { status: 400 } : { text: 'third time' }),
  body: async (instructions) => {
    const retry = { maxRetries: 2, policy: retryPolicies.httpStatus([400]), backoff: { initialDelayMs: 5 } };
    return await runAgent('Hi', { instructions, model: 'gpt-4.1', modelSettings: { retry } });
  },
  turns: 3,
  expectThat: (live, { records }) => {
    expect(live).toBe('third time');
    expect(records.map(({ failure }) => failure?.status)).toEqual([400, 400, undefined]);
  },
});

scenario('a caller that gives up', {
  script: () => ({ hang: true }),
  body: async (name) => {
    const caller = new AbortController();
    void provider
      .waitFor(({ body }) => body['instructions'] === name)
      .then(() => caller.abort(new RangeError('Too long.')));
    const answered = run(named(name, 'gpt-4.1'), 'Hi', { signal: caller.signal });
    return await answered.then(() => 'answered', errorSeen);
  },
  turns: 1,
  expectThat: (live) => expect(live).toMatchObject({ name: 'RangeError', message: 'Too long.' }),
});

const streamed = async (instructions: string, model: Agent['model'] = 'gpt-4.1') => {
  const stream = await run(new Agent({ name: 'A', instructions, model }), 'Hi', { stream: true });
  const deltas: string[] = [];
  const marks: string[] = [];
  for await (const event of stream) {
    if (event.type !== 'raw_model_stream_event') continue;
    if (event.data.type === 'output_text_delta') deltas.push(event.data.delta);
    if (event.data.type === 'model' && event.data.event.type === 'turn_restarted')
      marks.push(`after ${deltas.join('')}`);
  }
  await stream.completed;
  return { deltas, marks, output: stream.finalOutput, tokens: stream.state.usage.totalTokens };
};
const streams: Record<string, unknown[]> = {};

scenario('a streamed answer', {
  script: () => ({ text: 'one two three', usage: { inputTokens: 30, outputTokens: 3, cachedTokens: 20 } }),
  body: async (name) => {
    const { deltas, output, tokens } = await streamed(name);
    (streams[name] ??= []).push(deltas);
    return { text: deltas.join(''), output, tokens };
  },
  turns: 1,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toEqual({ text: 'one two three', output: 'one two three', tokens: 33 });
    expect(streams['a streamed answer']).toEqual([['one ', 'two ', 'three'], ['one two three']]);
    expect(records).toMatchObject([{ usage: { input: 30, output: 3, cacheRead: 20 } }]);
  },
});

scenario('a streamed answer of a chat model', {
  script: () => ({ text: 'one two three', usage: { inputTokens: 30, outputTokens: 3 } }),
  body: async (name) => {
    const { deltas, output, tokens } = await streamed(
      name,
      new OpenAIChatCompletionsModel(openAIClient(), 'gpt-chat'),
    );
    return { text: deltas.join(''), output, tokens };
  },
  turns: 1,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual({ text: 'one two three', output: 'one two three', tokens: 33 }),
});

scenario('a stream that breaks once', {
  script: ({ attempt }) => ({ text: 'one two three', ...(attempt === 1 && { reset: 'midway' }) }),
  body: async (name) => {
    const { deltas, marks, output } = await streamed(name);
    (streams[name] ??= []).push({ deltas, marks });
    return output;
  },
  turns: 2,
  expectThat: (live) => {
    expect(live).toBe('one two three');
    const [first] = streams['a stream that breaks once'] as { deltas: string[]; marks: string[] }[];
    expect(first!.marks).toHaveLength(1);
    expect(`${first!.marks[0]!.slice('after '.length)}one two three`).toBe(first!.deltas.join(''));
  },
});

scenario('first streamed, and not when rebuilt', {
  script: () => ({ text: 'the same' }),
  body: async (name) => {
    if (!streams[name]) {
      streams[name] = [];
      return (await streamed(name)).output;
    }
    return (await run(named(name, 'gpt-4.1'), 'Hi')).finalOutput;
  },
  turns: 1,
  expectThat: (live) => expect(live).toBe('the same'),
});
