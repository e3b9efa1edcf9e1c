/** Models of LangChain, however they are called: each answer is a turn, and given again as it was. */
import { expect } from '@jest/globals';
import { ChatOpenAI } from '@langchain/openai';
import { initChatModel, modelRetryMiddleware } from 'langchain';
import { z } from 'zod';
import { runAgent } from '../../../adapters/langchain/index.ts';
import type { ProviderScript } from '../../../src/testing/index.ts';
import { errorSeen, scenario } from './scenarios.ts';

const usage = { inputTokens: 100, outputTokens: 10, cachedTokens: 20, reasoningTokens: 3 };
const model = 'gpt-4.1-mini';
const said = (prompt: string) => [
  { role: 'system', content: prompt },
  { role: 'user', content: 'Hi' },
];
const answer: ProviderScript = ({ api, model: name }) => ({ text: `${name} by ${api}`, usage });

scenario('a model that is asked by itself', {
  script: answer,
  body: async (prompt) => {
    const { content, usage_metadata } = await new ChatOpenAI({ model, maxTokens: 50 }).invoke(said(prompt));
    return { content, usage_metadata };
  },
  turns: 1,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toMatchObject({ content: 'gpt-4.1-mini by chat', usage_metadata: { input_tokens: 100 } });
    expect(records).toMatchObject([
      {
        kind: 'turn',
        name: model,
        asked: 'Hi',
        usage: { input: 100, output: 10, cacheRead: 20, reasoning: 3 },
      },
    ]);
  },
});

scenario('a model by name, with options of its own', {
  script: answer,
  body: async (prompt) => {
    const byName = await initChatModel(`openai:${model}`, { useResponsesApi: true });
    return (await byName.invoke(said(prompt))).text;
  },
  turns: 1,
  asOutside: true,
  expectThat: (live) => expect(live).toBe('gpt-4.1-mini by responses'),
});

scenario('a model whose answer is streamed', {
  script: answer,
  body: async (prompt) => {
    let text = '';
    for await (const chunk of await new ChatOpenAI({ model }).stream(said(prompt))) text += chunk.text;
    return text;
  },
  turns: 1,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toBe('gpt-4.1-mini by chat');
    expect(records).toMatchObject([{ usage: { input: 100, output: 10 } }]);
  },
});

scenario('a model whose answer has a structure', {
  script: () => ({ text: '{"city":"Paris"}' }),
  body: async (prompt) =>
    await new ChatOpenAI({ model })
      .withStructuredOutput(z.object({ city: z.string() }), { method: 'jsonSchema' })
      .invoke(said(prompt)),
  turns: 1,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual({ city: 'Paris' }),
});

scenario('two equal questions, each with its own answer', {
  script: ({ attempt }) => ({ text: `answer ${attempt}` }),
  body: async (prompt) => {
    const chat = new ChatOpenAI({ model });
    const answers = [await chat.invoke(said(prompt)), await chat.invoke(said(prompt))];
    return answers.map(({ text }) => text);
  },
  turns: 2,
  expectThat: (live) => expect(live).toEqual(['answer 1', 'answer 2']),
});

scenario('a model with a cache in its process', {
  script: ({ attempt }) => ({ text: `answer ${attempt}` }),
  body: async (prompt) => {
    const chat = new ChatOpenAI({ model, cache: true });
    const answers = [await chat.invoke(said(prompt)), await chat.invoke(said(prompt))];
    return answers.map(({ text }) => text);
  },
  turns: 2,
  expectThat: (live) => expect(live).toEqual(['answer 1', 'answer 2']),
});

scenario('an answer of an agent that has a structure', {
  script: () => ({ text: '{"city":"Paris"}' }),
  body: async (systemPrompt) =>
    await runAgent('Hi', {
      model: `openai:${model}`,
      systemPrompt,
      responseFormat: z.object({ city: z.string() }),
    }),
  turns: 1,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual({ city: 'Paris' }),
});

scenario('an error of the provider', {
  script: () => ({ status: 400, errorBody: { error: { message: 'no such thing', code: 'bad_thing' } } }),
  body: async (prompt) => await new ChatOpenAI({ model }).invoke(said(prompt)).catch(errorSeen),
  turns: 1,
  expectThat: (live) => {
    expect(live).toMatchObject({ status: 400, code: 'bad_thing' });
    expect(live.message).toContain('no such thing');
  },
});

scenario("an error that does not pass, of which LangChain's own retries think that it does", {
  script: () => ({ status: 503, headers: { 'x-should-retry': 'false' } }),
  body: async (prompt) => await new ChatOpenAI({ model }).invoke(said(prompt)).catch(errorSeen),
  turns: 1,
  expectThat: (live) => expect(live).toMatchObject({ status: 503 }),
});

scenario('middleware that asks again', {
  script: ({ attempt }) =>
    attempt === 1 ? { status: 400, errorBody: { error: { message: 'no' } } } : { text: 'yes' },
  body: async (systemPrompt) => {
    const again = modelRetryMiddleware({ maxRetries: 1, initialDelayMs: 1, retryOn: () => true });
    return await runAgent('Hi', { model: `openai:${model}`, systemPrompt, middleware: [again] });
  },
  turns: 2,
  expectThat: (live, { records }) => {
    expect(live).toBe('yes');
    expect(records).toMatchObject([{ failure: { status: 400 } }, { kind: 'turn' }]);
  },
});
