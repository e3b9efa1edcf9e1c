/** MCP servers of the SDK over HTTP: what they are asked once, and what the SDK makes of the answers. */
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from '@jest/globals';
import {
  Agent,
  connectMcpServers,
  getAllMcpTools,
  hostedMcpTool,
  type MCPServer,
  MCPServerStdio,
  MCPServerStreamableHttp,
  run,
} from '@openai/agents';
import { newEffects, tally } from '../../kit/effects.ts';
import { startMcpServer } from '../../fixtures/mcp-server.ts';
import { callThenSay, scenario } from './scenarios.ts';

const model = 'gpt-4.1';
type Options = ConstructorParameters<typeof MCPServerStreamableHttp>[0];

// Before the scenarios, which run before the first test.
const log = newEffects();
const server = await startMcpServer();
afterAll(async () => await server.stop());

const shop = async (options: Partial<Options> = {}) => {
  const shopServer = new MCPServerStreamableHttp({ url: server.url, ...options });
  await shopServer.connect();
  return shopServer;
};
const called = (what: string) => tally(log)[`mcp ${what}`] ?? 0;

scenario('a server whose list is asked at each turn', {
  script: callThenSay(
    { name: 'find', arguments: { what: 'tea' } },
    { name: 'order', arguments: { what: 'tea' } },
  ),
  body: async (instructions) => {
    const mcpServers = [await shop()];
    const { finalOutput, newItems } = await run(
      new Agent({ name: 'A', instructions, model, mcpServers }),
      'Go',
    );
    await mcpServers[0]!.close();
    return [finalOutput, newItems.map(({ type }) => type)];
  },
  turns: 2,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live[0]).toBe('found tea | ordered tea');
    expect(records.map(({ kind, name }) => `${kind} ${name}`).toSorted()).toEqual([
      'step mcp.listTools',
      'step mcp.listTools',
      'tool find',
      'tool order',
      `turn ${model}`,
      `turn ${model}`,
    ]);
    expect([called('find tea'), called('order tea')]).toEqual([1, 1]);
  },
});

// Asked before by others in this process, for whom the SDK keeps the list.
const kept = new MCPServerStdio({
  command: process.execPath,
  args: [fileURLToPath(new URL('../../fixtures/mcp-server.ts', import.meta.url))],
  cacheToolsList: true,
});
await kept.connect();
afterAll(async () => await kept.close());
await getAllMcpTools([kept]);
scenario('a server whose list is kept', {
  script: callThenSay({ name: 'find', arguments: { what: 'cup' } }),
  body: async (instructions) => {
    const { finalOutput } = await run(
      new Agent({ name: 'A', instructions, model, mcpServers: [kept] }),
      'Go',
    );
    return { finalOutput, cacheToolsList: kept.cacheToolsList };
  },
  turns: 2,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toEqual({ finalOutput: 'found cup', cacheToolsList: true });
    expect(records.map((record) => record.name)).toEqual(['mcp.listTools', model, 'find', model]);
  },
});

const plain: MCPServer = {
  name: 'plain',
  cacheToolsList: false,
  useStructuredContent: true,
  connect: async () => {},
  close: async () => {},
  invalidateToolsCache: async () => {},
  listTools: async () => await kept.listTools(),
  callTool: async () =>
    Object.assign([{ type: 'text', text: 'see there' }], { structuredContent: { cents: 9 } }),
};
scenario('a server of the user that says more than content', {
  script: callThenSay({ name: 'price', arguments: { what: 'tea' } }),
  body: async (instructions) =>
    (await run(new Agent({ name: 'A', instructions, model, mcpServers: [plain] }), 'Go')).finalOutput,
  turns: 2,
  asOutside: true,
  expectThat: (live) => expect(live).toBe('{"cents":9}'),
});

scenario('structured content, and data beside a result', {
  script: callThenSay(
    { name: 'price', arguments: { what: 'milk' } },
    { name: 'broken', arguments: { what: 'x' } },
  ),
  body: async (instructions) => {
    const structured = await shop({
      useStructuredContent: true,
      customDataExtractor: ({ resultMeta, structuredContent }) =>
        structuredContent && { for: resultMeta?.['for'], cents: structuredContent['cents'] },
    });
    const agent = new Agent({ name: 'A', instructions, model, mcpServers: [structured] });
    const { finalOutput, newItems } = await run(agent, 'Go');
    await structured.close();
    const beside = newItems.flatMap((item) => ('customData' in item ? [item.customData] : []));
    return { finalOutput, beside };
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) => {
    expect(live.finalOutput).toBe('{"cents":4} | out of stock');
    expect(live.beside).toContainEqual({ for: 'milk', cents: 4 });
    expect(called('price milk')).toBe(1);
  },
});

scenario('a filter, which runs again', {
  script: ({ body }) => ({ text: (body['tools'] as { name: string }[]).map(({ name }) => name).join() }),
  body: async (instructions) => {
    const some = await shop({ toolFilter: async (_context, { name }) => name !== 'order' });
    const { connected, close } = await connectMcpServers([some]).then((all) => ({
      connected: all.active,
      close: async () => await all.close(),
    }));
    const { finalOutput } = await run(
      new Agent({ name: 'A', instructions, model, mcpServers: connected }),
      'Go',
    );
    await close();
    return finalOutput;
  },
  turns: 1,
  asOutside: true,
  expectThat: (live) => expect(live).toBe('find,price,broken'),
});

scenario('a server of the provider', {
  script: ({ body }) => ({ text: JSON.stringify((body['tools'] as object[])[0]) }),
  body: async (instructions) => {
    const tools = [hostedMcpTool({ serverLabel: 'theirs', serverUrl: 'https://mcp.example' })];
    return (await run(new Agent({ name: 'A', instructions, model, tools }), 'Go')).finalOutput;
  },
  turns: 1,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(JSON.parse(live)).toMatchObject({ type: 'mcp', server_label: 'theirs' });
    expect(records.map(({ kind }) => kind)).toEqual(['turn']);
  },
});
