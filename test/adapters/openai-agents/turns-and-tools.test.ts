import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from '@jest/globals';
import { Agent, run, tool as sdkTool } from '@openai/agents';
import { z } from 'zod';
import { runAgent } from '../../../adapters/openai-agents/index.ts';
import { tool } from '../../../src/index.ts';
import { asked, callThenSay, count, errorSeen, scenario, timesRan, toolTexts, weather } from './scenarios.ts';

const model = 'gpt-4.1';

const refund = tool({
  name: 'refund',
  description: 'Refunds.',
  parameters: z.object({ account: z.string(), note: z.string().optional() }),
  execute: ({ account, note }) => {
    count(`refund ${account}`);
    if (account === 'broken') throw new Error('secret details');
    return { account, note: note ?? 'none' };
  },
  retries: 0,
});
const shout = tool({
  name: 'shout',
  description: 'Shouts.',
  parameters: z.object({ text: z.string().transform((text) => `${text}!`) }),
  execute: ({ text }) => text,
});
const plain = tool({
  name: 'plain',
  description: 'Has a JSON Schema.',
  parameters: {
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
    additionalProperties: false,
  },
  retries: { maximumAttempts: 2, initialInterval: '10ms' },
  execute: ({ n }: any) => {
    count('plain');
    if (timesRan('plain') === 1) throw new Error('not yet');
    return n + 1;
  },
});

scenario('run() with a tool of the SDK', {
  script: async (request) => ({
    ...(await callThenSay(
      { name: 'weather', arguments: { city: 'Paris' } },
      { name: 'weather', arguments: { city: 'Rome', unit: 'F' } },
    )(request)),
    usage: { inputTokens: 100, outputTokens: 10, cachedTokens: 40, reasoningTokens: 5 },
  }),
  body: async (instructions) => {
    const { finalOutput, state, rawResponses } = await run(
      new Agent({ name: 'A', instructions, tools: [weather], model }),
      'Hi',
    );
    const { status, tools } = rawResponses[0]!.providerData!;
    return { finalOutput, usage: state.usage, status, tools };
  },
  turns: 2,
  expectThat: (live, { records }) => {
    expect(live.finalOutput).toBe('{"city":"Paris","weather":"22 C"} | {"city":"Rome","weather":"22 F"}');
    expect(live.usage).toMatchObject({ requests: 2, inputTokens: 200, outputTokens: 20, totalTokens: 220 });
    expect(live).toMatchObject({ status: 'completed' });
    expect(live.tools).toBeUndefined();
    const usage = { input: 100, output: 10, cacheRead: 40, reasoning: 5 };
    expect(records.map((record) => [record.kind, record.name, record.usage])).toEqual([
      ['turn', model, usage],
      ['tool', 'weather', undefined],
      ['tool', 'weather', undefined],
      ['turn', model, usage],
    ]);
    expect([timesRan('weather Paris'), timesRan('weather Rome')]).toEqual([1, 1]);
  },
});

scenario('runAgent() with tools of both kinds and structured output', {
  script: (request) =>
    toolTexts(request).length > 0
      ? { text: JSON.stringify({ said: toolTexts(request), answered: 42 }) }
      : {
          toolCalls: [
            { name: 'refund', arguments: { account: 'acme', note: null } },
            { name: 'weather', arguments: { city: 'Oslo' } },
          ],
        },
  body: async (instructions) =>
    await runAgent('Refund, please', {
      model,
      instructions,
      tools: [refund, weather],
      outputType: z.object({ said: z.array(z.string()), answered: z.number() }),
      modelSettings: { temperature: 0.5 },
      maxTurns: 3,
    }),
  turns: 2,
  asOutside: true,
  expectThat: (live, { records }) => {
    const said = ['{"account":"acme","note":"none"}', '{"city":"Oslo","weather":"22 C"}'];
    expect(live).toEqual({ said, answered: 42 });
    expect(records.map(({ name }) => name).toSorted()).toEqual([model, model, 'refund', 'weather']);
    expect(asked('runAgent() with tools of both kinds and structured output')[0]!.body['temperature']).toBe(
      0.5,
    );
    expect(timesRan('refund acme')).toBe(1);
  },
});

scenario('tools of ours in the tools of an agent of the SDK', {
  script: callThenSay(
    { name: 'refund', arguments: { account: 'direct' } },
    { name: 'shout', arguments: { text: 'hey' } },
    { name: 'plain', arguments: { n: 1 } },
  ),
  body: async (instructions) => {
    const tools = [refund, shout, plain] as never[];
    return await runAgent('Refund', { agent: new Agent({ name: 'A', instructions, tools, model }) });
  },
  turns: 2,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toBe('{"account":"direct","note":"none"} | hey! | 2');
    // It is an activity of its own, with its own retries.
    expect(timesRan('plain')).toBe(2);
    expect(
      records
        .filter(({ kind }) => kind === 'tool')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['plain', 'refund', 'shout']);
  },
});

/** Throws after a while; with a timeout it only ends when that aborts it, however busy the machine is. */
const failing = (options: { timeoutMs?: number; [option: string]: unknown }) =>
  sdkTool({
    name: 'fails',
    description: 'Fails.',
    parameters: z.object({}),
    execute: async (_input: unknown, _context: unknown, details?: { signal?: AbortSignal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const boom = () => reject(Object.assign(new TypeError('boom'), { code: 'E_BOOM' }));
      const timer = options.timeoutMs === undefined ? setTimeout(boom, 50) : undefined;
      details?.signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
      return await promise;
    },
    ...options,
  } as never);

scenario('failures of tools, in the words of the SDK or of its options', {
  script: callThenSay(
    { name: 'refund', arguments: { account: 'broken' } },
    { name: 'fails', arguments: {} },
    { name: 'fails_in_own_words', arguments: {} },
    { name: 'is_slow', arguments: {} },
    { name: 'weather', arguments: '{"city":' },
    { name: 'weather', arguments: { town: 'Paris' } },
  ),
  body: async (instructions) =>
    await runAgent('Try', {
      model,
      instructions,
      tools: [
        refund,
        failing({}),
        failing({
          name: 'fails_in_own_words',
          errorFunction: (_context: unknown, error: Error) => `Sorry: ${error.message}`,
        }),
        failing({ name: 'is_slow', timeoutMs: 20 }),
        weather,
      ],
    }),
  turns: 2,
  asOutside: true,
  expectThat: (live) =>
    expect(live).toMatch(/^An error.*\| An error.*\| Sorry: boom \| Tool 'is_slow' timed out.*\| An error/),
});

scenario('a tool whose failure ends the run of the SDK', {
  script: callThenSay({ name: 'fails', arguments: {} }),
  body: async (instructions) => {
    const agent = new Agent({ name: 'A', instructions, tools: [failing({ errorFunction: null })], model });
    return await run(agent, 'Try').catch((error: Error & { error: unknown }) => [
      errorSeen(error),
      errorSeen(error.error),
    ]);
  },
  turns: 1,
  expectThat: (live) => {
    expect(live[0]).toMatchObject({ message: 'Failed to run function tools: TypeError: boom' });
    expect(live[1]).toMatchObject({ name: 'TypeError', message: 'boom', code: 'E_BOOM' });
  },
});

scenario('a tool whose timeout ends the run of the SDK', {
  script: callThenSay({ name: 'is_slow', arguments: {} }),
  body: async (instructions) => {
    const tools = [failing({ name: 'is_slow', timeoutMs: 20, timeoutBehavior: 'raise_exception' })];
    return await run(new Agent({ name: 'A', instructions, tools, model }), 'Try').catch((error: Error) => ({
      class: error.constructor.name,
      message: error.message,
    }));
  },
  turns: 1,
  asOutside: true,
  expectThat: (live) =>
    expect(live).toEqual({ class: 'ToolTimeoutError', message: "Tool 'is_slow' timed out after 20ms." }),
});

scenario('a timeout that is shorter than a step takes', {
  script: callThenSay({ name: 'quick', arguments: {} }),
  body: async (instructions) => {
    const execute = () => 'in time';
    const quick = sdkTool({
      name: 'quick',
      description: 'Quick.',
      parameters: z.object({}),
      execute,
      timeoutMs: 2,
    });
    return await runAgent('Try', { model, instructions, tools: [quick] });
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) => expect(live).toBe('in time'),
});

const returning = (name: string, value: unknown) =>
  sdkTool({ name, description: 'Returns.', parameters: z.object({}), execute: () => value });

scenario('an image as bytes', {
  script: ({ body, messages }) => {
    if (messages.length === 1) return { toolCalls: [{ name: 'photo', arguments: {} }] };
    return { text: JSON.stringify((body['input'] as { output?: unknown }[]).at(-1)!.output) };
  },
  body: async (instructions) => {
    const image = { data: new Uint8Array([1, 2, 3]), mediaType: 'image/png' };
    return await runAgent('Look', {
      model,
      instructions,
      tools: [returning('photo', { type: 'image', image })],
    });
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) => expect(live).toContain('data:image/png;base64,AQID'),
});

scenario('a result that cannot be recorded', {
  script: callThenSay({ name: 'bad', arguments: {} }),
  body: async (instructions) =>
    await runAgent('Try', { model, instructions, tools: [returning('bad', { found: new Map() })] }).catch(
      errorSeen,
    ),
  turns: 1,
  expectThat: (live) =>
    expect(live.message).toMatch(
      /NotRecordableError: The result of tool bad cannot be recorded: "found" is a Map/,
    ),
});

const local = new AsyncLocalStorage<string>();
scenario('what the agent keeps in AsyncLocalStorage, and its context', {
  script: callThenSay({ name: 'where', arguments: {} }),
  body: async (instructions) => {
    const where = sdkTool({
      name: 'where',
      description: 'Where it runs.',
      parameters: z.object({}),
      execute: (_input, context) => ({ stored: local.getStore(), context: context?.context }),
    });
    const options = { model, instructions, tools: [where], context: { user: 7 } };
    return await local.run('mine', async () => await runAgent('Where?', options));
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) => expect(JSON.parse(live)).toEqual({ stored: 'mine', context: { user: 7 } }),
});
