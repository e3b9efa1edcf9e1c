/** Callbacks run again with the recorded answers, and are told so; what traces add up is counted once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { createAgent, tool } from 'langchain';
import { Client } from 'langsmith';
import { z } from 'zod';
import { callThenSay, scenario } from './scenarios.ts';

const heard: string[] = [];
/** What a server of LangSmith was sent. */
const traced: { id: string; name?: string; run_type?: string; replayed?: boolean }[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'POST' && request.url?.endsWith('/runs')) {
      const { id, name, run_type, extra } = JSON.parse(Buffer.concat(chunks).toString()) as Record<
        string,
        any
      >;
      traced.push({ id, name, run_type, replayed: extra?.metadata?.replayed === true });
    }
    response.end('{}');
  });
});
// Before the scenarios, which begin with the tests.
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => void server.close());

class Listener extends BaseCallbackHandler {
  name = 'listener';
  override handleChatModelStart(...args: any[]): void {
    heard.push(`model${args[6]?.replayed ? ' replayed' : ''}`);
  }
  override handleToolStart(...args: any[]): void {
    heard.push(`tool${args[5]?.replayed ? ' replayed' : ''}`);
  }
}

scenario('callbacks and traces of an agent', {
  script: callThenSay({ name: 'look', arguments: { what: 'x' } }),
  body: async (systemPrompt) => {
    const look = tool(({ what }) => `seen ${what}`, {
      name: 'look',
      description: 'Looks.',
      schema: z.object({ what: z.string() }),
    });
    const { port } = server.address() as AddressInfo;
    const client = new Client({
      apiUrl: `http://127.0.0.1:${port}`,
      apiKey: 'none',
      autoBatchTracing: false,
    });
    const tracer = new LangChainTracer({ client });
    const agent = createAgent({ model: 'openai:gpt-4.1-mini', systemPrompt, tools: [look] });
    const { messages } = await agent.invoke(
      { messages: [{ role: 'user', content: 'Go' }] },
      { callbacks: [new Listener(), tracer] },
    );
    await client.awaitPendingTraceBatches();
    return messages.at(-1)!.text;
  },
  turns: 2,
  expectThat: (live) => expect(live).toBe('seen x'),
});

test('a call that an earlier loop had is marked as replayed', () => {
  expect(heard).toEqual(['model', 'tool', 'model', 'model replayed', 'tool replayed', 'model replayed']);
});

test('LangSmith hears of each live call of a model once, and what else is replayed is marked', () => {
  const of = (type: string) => traced.filter(({ run_type }) => run_type === type);
  expect(of('llm').map(({ replayed }) => replayed)).toEqual([false, false]);
  expect(of('tool').map(({ replayed }) => replayed)).toEqual([false, true]);
  expect(of('chain').some(({ replayed }) => replayed)).toBe(true);
});
