/** What the adapter leaves alone, what it refuses, and what a cancelled run lets go of. */
import { expect, test } from '@jest/globals';
import {
  Agent,
  type MCPServer,
  MemorySession,
  OpenAIConversationsSession,
  run,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  tool as sdkTool,
} from '@openai/agents';
import { SandboxAgent } from '@openai/agents/sandbox';
import { z } from 'zod';
import { runAgent, toAgentTool } from '../../../adapters/openai-agents/index.ts';
import { agent, tool } from '../../../src/index.ts';
import { client, unique, until } from '../../kit/temporal.ts';
import { QUICK_START, startWorker } from '../../kit/workers.ts';
import { asked, callThenSay, errorSeen, provider, scenario, scripts, weather } from './scenarios.ts';

const model = 'gpt-4.1';
const double = tool({
  name: 'double',
  description: 'Doubles.',
  parameters: z.object({ n: z.number() }),
  execute: ({ n }) => n * 2,
});

test('outside a run everything is as the SDK has it', async () => {
  scripts['outside'] = callThenSay(
    { name: 'weather', arguments: { city: 'Outside' } },
    { name: 'double', arguments: { n: 4 } },
  );
  const outside = new Agent({
    name: 'A',
    instructions: 'outside',
    tools: [weather, toAgentTool(double)],
    model,
  });
  expect((await run(outside, 'Hi')).finalOutput).toBe('{"city":"Outside","weather":"22 C"} | 8');
  expect(await outside.getAllTools({} as never)).toEqual(outside.tools);
  expect((await outside.getAllTools({} as never))[0]).toBe(weather);
  await run(outside, 'Hi');
  expect(asked('outside')).toHaveLength(4);
});

let inside: PromiseWithResolvers<void>;
let gotOutside: unknown;
scenario('one agent inside a run beside the same outside', {
  script: async ({ messages }) => {
    if (messages[0]!.text === 'inside') inside.resolve();
    return { text: `it was ${messages[0]!.text}`, delayMs: 100 };
  },
  body: async (instructions) => {
    const both = new Agent({ name: 'A', instructions, model });
    return (await run(both, 'inside')).finalOutput;
  },
  turns: 2,
  expectThat: (live, { records }) => {
    expect([live, gotOutside]).toEqual(['it was inside', 'it was outside']);
    expect(records).toHaveLength(1);
  },
});
inside = Promise.withResolvers();
void inside.promise.then(async () => {
  const instructions = 'one agent inside a run beside the same outside';
  gotOutside = (await run(new Agent({ name: 'A', instructions, model }), 'outside')).finalOutput;
});

scenario('what a restart cannot rebuild is refused', {
  script: () => ({}),
  body: async () => [
    await run(new SandboxAgent({ name: 'Boxed', model }), 'Hi').catch(errorSeen),
    await run(new Agent({ name: 'Kept', model }), 'Hi', { session: new OpenAIConversationsSession() }).catch(
      errorSeen,
    ),
  ],
  turns: 0,
  expectThat: (live) => {
    expect(live.map((error: any) => error.name)).toEqual(Array(2).fill('UnsupportedError'));
    expect(live[0].message).toMatch(/Cannot run agent Boxed/);
    expect(live[1].message).toMatch(/Cannot run agent Kept: .* session/);
  },
});

scenario('a session in memory that the agent makes', {
  script: ({ messages }) => ({ text: `${messages.length}` }),
  body: async (instructions) => {
    const session = new MemorySession();
    const remembering = new Agent({ name: 'A', instructions, model });
    const turns = [await run(remembering, 'one', { session }), await run(remembering, 'two', { session })];
    return turns.map(({ finalOutput }) => finalOutput);
  },
  turns: 2,
  expectThat: (live) => expect(live).toEqual(['1', '3']),
});

const mcpCalls: unknown[] = [];
const mcpServer: MCPServer = {
  name: 'clock',
  cacheToolsList: false,
  connect: async () => {},
  close: async () => {},
  invalidateToolsCache: async () => {},
  listTools: async () => [
    {
      name: 'time',
      description: 'The time.',
      inputSchema: {
        type: 'object',
        properties: { zone: { type: 'string' } },
        required: ['zone'],
        additionalProperties: false,
      },
    },
  ],
  callTool: async (name, args) => {
    mcpCalls.push([name, args]);
    return [{ type: 'text', text: 'noon' }];
  },
};
scenario('a tool of an MCP server, which the worker calls', {
  script: callThenSay({ name: 'time', arguments: { zone: 'UTC' } }),
  body: async (instructions) =>
    await runAgent('Time?', {
      agent: new Agent({ name: 'A', instructions, model, mcpServers: [mcpServer] }),
    }),
  turns: 2,
  expectThat: (live, { records }) => {
    expect(live).toContain('noon');
    expect(records.map(({ kind, name }) => [kind, name])).toContainEqual(['tool', 'time']);
    expect(mcpCalls).toEqual([['time', { zone: 'UTC' }]]);
  },
});

const spans: { type: string; parent: boolean; id: string; trace: string }[] = [];
scenario('traces of the SDK, which are one over both workers', {
  script: callThenSay({ name: 'double', arguments: { n: 2 } }, { name: 'double', arguments: { n: 3 } }),
  body: async (instructions) => {
    const traced = new Runner({ workflowName: 'traced' });
    return await runAgent('Hi', {
      runner: traced,
      agent: new Agent({ name: 'A', instructions, model, tools: [toAgentTool(double)] }),
    });
  },
  turns: 2,
  expectThat: () => {
    const of = (type: string) => spans.filter((span) => span.type === type);
    expect(of('response').map(({ parent }) => parent)).toEqual([true, true]);
    expect(of('function')).toHaveLength(2);
    // The last one ends when all records are read; whoever collects spans knows it by its id.
    expect(new Set(of('agent').map(({ id }) => id)).size).toBe(1);
    expect(new Set(spans.map(({ trace }) => trace)).size).toBe(1);
  },
});
setTracingDisabled(false);
const traces = new Map<string, string>();
setTraceProcessors([
  {
    onTraceStart: async ({ traceId, name }) => void traces.set(traceId, name),
    onTraceEnd: async () => {},
    onSpanStart: async () => {},
    onSpanEnd: async ({ traceId, spanId, spanData, parentId }) => {
      if (traces.get(traceId) === 'traced')
        spans.push({ type: spanData.type, parent: parentId !== null, id: spanId, trace: traceId });
    },
    shutdown: async () => {},
    forceFlush: async () => {},
  },
]);

test.each<[string, object, string, RegExp]>([
  ['an option it does not have', { colour: 'red' }, 'DeclarationError', /no option "colour"/],
  ['a memory outside a run', { memoryKey: 'me' }, 'DeclarationError', /outside a run/],
  ['a way to share no memory', { whenBusy: 'queue' }, 'DeclarationError', /no "memoryKey"/],
  [
    'parts beside an agent',
    { agent: new Agent({ name: 'Mine' }), tools: [] },
    'DeclarationError',
    /agent Mine with "tools"/,
  ],
])('runAgent() refuses %s', async (_what, options, name, message) => {
  await expect(runAgent('Hi', options)).rejects.toMatchObject({
    name,
    message: expect.stringMatching(message),
  });
});

test('runAgent() outside a run says that nobody can be asked', async () => {
  scripts['approve me'] = callThenSay({ name: 'pay', arguments: {} });
  const pay = sdkTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({}),
    needsApproval: true,
    execute: () => 'paid',
  });
  await expect(runAgent('Hi', { instructions: 'approve me', model, tools: [pay] })).rejects.toMatchObject({
    name: 'UnsupportedError',
    message: expect.stringContaining('approval of pay'),
  });
});

test('a cancelled run closes its connection to the provider at once, and the bodies of its tools are told', async () => {
  scripts['hangs'] = ({ messages }) =>
    messages.length === 1 ? { toolCalls: [{ name: 'waits', arguments: {} }], delayMs: 50 } : undefined;
  scripts['hangs too'] = () => ({ hang: true });
  let told: unknown;
  const started = Promise.withResolvers<void>();
  const waits = sdkTool({
    name: 'waits',
    description: 'Waits.',
    parameters: z.object({}),
    execute: async (_input, _context, details) => {
      started.resolve();
      await new Promise((resolve) => details!.signal!.addEventListener('abort', resolve));
      told = details!.signal!.aborted;
    },
  });
  const hanging = agent('hanging', async () => {
    const runs = [
      runAgent('Hi', { instructions: 'hangs', model, tools: [waits] }),
      runAgent('Hi', { instructions: 'hangs too', model }),
    ];
    return await Promise.all(runs);
  });
  const taskQueue = unique('hanging');
  const worker = await startWorker({ taskQueue, plugin: { agents: [hanging] } });
  const { workflow } = await client();
  const handle = await workflow.start('hanging', { taskQueue, workflowId: taskQueue, ...QUICK_START });
  const request = await provider.waitFor(({ body }) => body['instructions'] === 'hangs too');
  await started.promise;
  const cancelledAt = Date.now();
  await handle.cancel();
  await until(() => request.closedEarlyAt, 'the connection is closed', 5_000);
  expect(request.closedEarlyAt! - cancelledAt).toBeLessThan(1_500);
  await until(() => told === true, 'the tool is told', 5_000);
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  await worker.stop();
});

test('a recorded failure of a tool that ends the run is not tried again by starting the agent again', async () => {
  scripts['ends'] = callThenSay({ name: 'fails', arguments: {} });
  let starts = 0;
  const ending = agent('ending', async () => {
    starts++;
    const execute = () => {
      throw new RangeError('too far');
    };
    const fails = sdkTool({
      name: 'fails',
      description: 'Fails.',
      parameters: z.object({}),
      execute,
      errorFunction: null,
    });
    return await runAgent('Hi', { instructions: 'ends', model, tools: [fails] });
  });
  const taskQueue = unique('ending');
  const worker = await startWorker({ taskQueue, plugin: { agents: [ending] } });
  const { workflow } = await client();
  const handle = await workflow.start('ending', { taskQueue, workflowId: taskQueue, ...QUICK_START });
  await expect(handle.result()).rejects.toMatchObject({
    cause: { message: 'Failed to run function tools: RangeError: too far' },
  });
  expect(starts).toBe(1);
  await worker.stop();
});
