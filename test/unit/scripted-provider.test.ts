import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import {
  startScriptedProvider,
  type ProviderScript,
  type ScriptedProvider,
} from '../../src/testing/index.ts';

setTracingDisabled(true);
const usage = { inputTokens: 100, cachedTokens: 60, outputTokens: 40, reasoningTokens: 30 };
let provider: ScriptedProvider;

afterEach(() => provider.stop());

describe('the Responses API', () => {
  test('answers text, tool calls and usage in one', async () => {
    const client = await clientOf(() => ({ text: 'Hello there.', toolCalls: [weatherCall()], usage }));
    const response = await client.responses.create({ model: 'gpt-5', input: 'Hi', instructions: 'Be kind.' });
    expect(response).toMatchObject({
      model: 'gpt-5',
      status: 'completed',
      output_text: 'Hello there.',
      output: [
        { type: 'message' },
        { type: 'function_call', name: 'weather', arguments: '{"city":"Berlin"}' },
      ],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60 },
        output_tokens: 40,
        output_tokens_details: { reasoning_tokens: 30 },
        total_tokens: 140,
      },
    });
  });

  test('streams the same answer in events that the client puts together again', async () => {
    const client = await clientOf(() => ({
      text: 'Hello there.',
      toolCalls: [weatherCall('call_1')],
      usage,
    }));
    const stream = client.responses.stream({ model: 'gpt-5', input: 'Hi' });
    const deltas: string[] = [];
    stream.on('response.output_text.delta', (event) => deltas.push(event.delta));
    const response = await stream.finalResponse();
    expect(deltas).toEqual(['Hello ', 'there.']);
    expect(response.output_text).toBe('Hello there.');
    expect(response.output[1]).toMatchObject({ call_id: 'call_1', arguments: '{"city":"Berlin"}' });
    expect(response.usage?.total_tokens).toBe(140);
  });
});

describe('the Chat Completions API', () => {
  test('answers text, tool calls and usage in one', async () => {
    const client = await clientOf(() => ({ toolCalls: [weatherCall()], usage }));
    const completion = await client.chat.completions.create({ model: 'gpt-5', messages: hi() });
    const [choice] = completion.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Berlin"}' } }],
      },
    });
    expect(completion.usage).toMatchObject({
      prompt_tokens: 100,
      completion_tokens: 40,
      total_tokens: 140,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 30 },
    });
  });

  test('streams the same answer in chunks that the client puts together again', async () => {
    const client = await clientOf(() => ({
      text: 'Hello there.',
      toolCalls: [weatherCall('call_1')],
      usage,
    }));
    const options = { stream_options: { include_usage: true } };
    const stream = client.chat.completions.stream({ model: 'gpt-5', messages: hi(), ...options });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message).toMatchObject({
      content: 'Hello there.',
      tool_calls: [{ id: 'call_1', function: { arguments: '{"city":"Berlin"}' } }],
    });
    expect(completion.usage?.total_tokens).toBe(140);
  });
});

describe('an agent of the OpenAI Agents SDK', () => {
  const models = { responses: OpenAIResponsesModel, chat: OpenAIChatCompletionsModel };
  const script: ProviderScript = ({ messages, tools, instructions }) => {
    const result = messages.flatMap(({ toolResults }) => toolResults).find(({ name }) => name === 'weather');
    if (
      instructions !== 'You tell the weather.' ||
      tools[0] !== 'weather' ||
      messages[0]?.text !== 'And in Berlin?'
    ) {
      return undefined;
    }
    return result ? { text: JSON.stringify({ report: result.text }) } : { toolCalls: [weatherCall()] };
  };

  for (const [api, Model] of Object.entries(models)) {
    for (const stream of [false, true]) {
      test(`runs a tool and ends with structured output: ${api}, ${stream ? 'streamed' : 'in one'}`, async () => {
        const client = await clientOf(script);
        const agent = new Agent({
          name: 'Weather',
          instructions: 'You tell the weather.',
          model: new Model(client, 'gpt-5'),
          outputType: z.object({ report: z.string() }),
          tools: [weatherTool()],
        });
        const result = stream
          ? await run(agent, 'And in Berlin?', { stream })
          : await run(agent, 'And in Berlin?', { stream });
        if ('completed' in result) {
          await result.completed;
        }
        expect(result.finalOutput).toEqual({ report: 'Sun in Berlin' });
        expect(provider.requests.map(({ api: its, attempt }) => [its, attempt])).toEqual([
          [api, 1],
          [api, 1],
        ]);
      });
    }
  }
});

describe('a script', () => {
  test('fails the first times that a request is seen, whatever else is asked in between', async () => {
    const client = await clientOf(
      ({ attempt }) => (attempt <= 2 ? { status: 503 } : { text: 'At last.' }),
      2,
    );
    const ask = (input: string) => client.responses.create({ model: 'gpt-5', input });
    const answers = await Promise.all([ask('One'), ask('Two')]);
    expect(answers.map(({ output_text }) => output_text)).toEqual(['At last.', 'At last.']);
    expect(provider.count()).toBe(6);
    expect(provider.count(({ status, attempt }) => status === 503 && attempt === 2)).toBe(2);
  });

  test('gives the same key to the same request whatever the order of its fields', async () => {
    await clientOf(() => ({}));
    await post('/v1/responses', '{"model":"a","input":"b"}');
    await post('/v1/responses', '{"input":"b","model":"a"}');
    await post('/v1/responses', '{"input":"c","model":"a"}');
    expect(provider.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
    expect(new Set(provider.requests.map(({ key }) => key)).size).toBe(2);
  });

  test('gets ids of its own for every answer, like those of a provider', async () => {
    const client = await clientOf(() => ({ text: 'Same.', toolCalls: [weatherCall()] }));
    const ids = new Set<unknown>();
    for (let n = 0; n < 2; n++) {
      const { id, output } = await client.responses.create({ model: 'gpt-5', input: 'Hi' });
      const [message, call] = output;
      [id, message?.id, call?.id, call?.type === 'function_call' && call.call_id].forEach((each) =>
        ids.add(each),
      );
    }
    expect(ids.size).toBe(8);
  });

  test('that has no answer, or throws, makes a 400 that says what was asked', async () => {
    const client = await clientOf(({ model }) => {
      if (model === 'broken') {
        throw new Error('oh no');
      }
      return undefined;
    });
    const ask = (model: string) => client.responses.create({ model, input: 'Anything?' });
    await expect(ask('gpt-5')).rejects.toThrow(
      /400 Cannot answer the request: the script has no .*"Anything\?"/,
    );
    await expect(ask('broken')).rejects.toThrow(/400 Cannot answer the request: the script threw: oh no.*/);
    expect((await post('/v1/embeddings', '{}')).status).toBe(404);
  });

  test('sets status, headers and body of an error', async () => {
    const errorBody = { error: { message: 'Slow down', type: 'tokens', code: 'rate_limit_exceeded' } };
    const client = await clientOf(() => ({ status: 429, headers: { 'retry-after': '7' }, errorBody }));
    const error = await client.responses
      .create({ model: 'gpt-5', input: 'Hi', stream: true })
      .catch((e) => e);
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', message: '429 Slow down' });
    expect(error.headers.get('retry-after')).toBe('7');
  });

  test('waits before the answer, and before its first token', async () => {
    const client = await clientOf(() => ({ text: 'Late.', delayMs: 100, firstTokenDelayMs: 200 }));
    const start = performance.now();
    const times: Record<string, number> = {};
    for await (const { type } of await client.responses.create({
      model: 'gpt-5',
      input: 'Hi',
      stream: true,
    })) {
      times[type] ??= performance.now() - start;
    }
    expect(times['response.created']).toBeGreaterThanOrEqual(95);
    expect(times['response.created']).toBeLessThan(280);
    expect(times['response.output_text.delta']).toBeGreaterThanOrEqual(295);
  });
});

describe('a connection', () => {
  for (const hang of [true, 'midway'] as const) {
    test(`that hangs (${hang}) is seen to close at once when the client gives up`, async () => {
      const client = await clientOf(() => ({ text: 'One two three four.', hang }));
      const abort = new AbortController();
      const asked = client.responses.create(
        { model: 'gpt-5', input: 'Hi', stream: true },
        { signal: abort.signal },
      );
      const read = asked.then(async (stream) => {
        const events: unknown[] = [];
        for await (const event of stream) events.push(event);
      });
      const settled = read.catch((error) => error);
      await provider.waitFor(({ at }) => at > 0);
      if (hang === 'midway') {
        await asked;
      }
      const abortedAt = Date.now();
      abort.abort();
      const entry = await provider.waitFor(({ closedEarlyAt }) => closedEarlyAt !== undefined);
      expect((entry.closedEarlyAt ?? 0) - abortedAt).toBeLessThan(200);
      expect(entry.answeredAt).toBeUndefined();
      await settled;
    });
  }

  test('that the script resets fails in the client like a network that broke', async () => {
    const client = await clientOf(() => ({ reset: true }));
    const error = await client.responses.create({ model: 'gpt-5', input: 'Hi' }).catch((e) => e);
    expect(error).toBeInstanceOf(OpenAI.APIConnectionError);
    expect(provider.requests[0]).toMatchObject({ resetAt: expect.any(Number) });
    expect(provider.requests[0]?.closedEarlyAt).toBeUndefined();
  });

  test('that the script resets midway gives half of the stream before it breaks', async () => {
    const client = await clientOf(() => ({ text: 'One two three four.', reset: 'midway' }));
    const types: string[] = [];
    const read = async () => {
      for await (const { type } of await client.responses.create({
        model: 'gpt-5',
        input: 'Hi',
        stream: true,
      })) {
        types.push(type);
      }
    };
    await expect(read()).rejects.toThrow();
    expect(types).toContain('response.output_text.delta');
    expect(types).not.toContain('response.completed');
  });

  test('is dropped by stop(), also while it hangs, and is not put down to the client', async () => {
    const client = await clientOf(() => ({ hang: true }));
    const asked = client.responses.create({ model: 'gpt-5', input: 'Hi' }).catch((error) => error);
    await provider.waitFor(() => true);
    await provider.stop();
    expect(await asked).toBeInstanceOf(OpenAI.APIConnectionError);
    expect(provider.requests[0]?.closedEarlyAt).toBeUndefined();
  });

  test('may come from other processes, several at once', async () => {
    await clientOf(({ messages }) => ({ text: `You said ${messages[0]?.text}.` }));
    const script = `
      const { default: OpenAI } = await import('${import.meta.resolve('openai')}');
      const client = new OpenAI({ baseURL: process.argv[1], apiKey: 'none' });
      console.log((await client.responses.create({ model: 'gpt-5', input: process.argv[2] })).output_text);`;
    const ask = (word: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, provider.url, word]);
    const answers = await Promise.all([ask('one'), ask('two')]);
    expect(answers.map(({ stdout }) => stdout)).toEqual(['You said one.\n', 'You said two.\n']);
  });
});

async function clientOf(script: ProviderScript, maxRetries = 0): Promise<OpenAI> {
  provider = await startScriptedProvider(script);
  return new OpenAI({ baseURL: provider.url, apiKey: 'none', maxRetries });
}

function post(path: string, body: string): Promise<Response> {
  return fetch(new URL(path, provider.url), { method: 'POST', body });
}

function weatherCall(id?: string) {
  return { name: 'weather', arguments: { city: 'Berlin' }, ...(id === undefined ? {} : { id }) };
}

function weatherTool() {
  return tool({
    name: 'weather',
    description: 'Tells the weather of a city.',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => `Sun in ${city}`,
  });
}

function hi() {
  return [{ role: 'user' as const, content: 'Hi' }];
}
