/** The contract's agents, in Deep Agents. */
import { fileURLToPath } from 'node:url';
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createDeepAgent } from 'deepagents';
import { createMiddleware, ToolMessage, type ToolRuntime, tool as ownTool } from 'langchain';
import { z } from 'zod';
import { agent, tool } from '../../src/index.ts';
import { runAgent, toAgentTool } from '../../adapters/deepagents/index.ts';
import { note } from '../kit/effects.ts';

const shop = fileURLToPath(new URL('../fixtures/mcp-server.ts', import.meta.url));
const parameters = z.object({ what: z.string() });
const model = 'openai:gpt-4.1-mini';

const lookup = tool({
  name: 'lookup',
  description: 'Looks something up.',
  parameters,
  execute: async ({ what }) => {
    note(`lookup ${what}`);
    return `found ${what}`;
  },
});
const broken = tool({
  name: 'broken',
  description: 'Breaks.',
  parameters,
  retries: { maximumAttempts: 3, initialInterval: 10 },
  execute: async ({ what }) => {
    note(`broken ${what}`);
    throw new Error('it broke');
  },
});
const refund = tool({
  name: 'refund',
  description: 'Refunds.',
  parameters,
  requiresApproval: { prompt: ({ what }) => `Refund ${what}?`, allowEdit: true },
  execute: async ({ what }) => {
    note(`refund ${what}`);
    return 'refunded';
  },
});
const ownLookup = ownTool(
  ({ what }) => {
    note(`own ${what}`);
    return `found ${what}`;
  },
  { name: 'own_lookup', description: 'Looks something up, in LangChain.', schema: parameters },
);
/** Asks in the way of LangChain's own middleware, as a tool that knows when it must. */
const ownRefund = ownTool(
  ({ what }) => {
    const name = 'own_refund';
    const { decisions } = interrupt<unknown, { decisions: { type: string; message?: string }[] }>({
      actionRequests: [{ name, args: { what } }],
      reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'reject'] }],
    });
    if (decisions[0]!.type === 'reject') return decisions[0]!.message ?? 'rejected';
    note(`own refund ${what}`);
    return 'refunded';
  },
  { name: 'own_refund', description: 'Refunds, in LangChain.', schema: parameters },
);

export const steps = agent('steps', async (input: string) => {
  const chat = new ChatOpenAI({ model: 'gpt-4.1-mini' });
  const transfer = ownTool(
    (_, { state, toolCallId }: ToolRuntime<typeof MessagesAnnotation.State>) => {
      const done = new ToolMessage({
        content: 'Writer goes on.',
        tool_call_id: toolCallId,
        name: 'transfer',
      });
      return new Command({
        goto: 'Writer',
        graph: Command.PARENT,
        update: { messages: [...state.messages, done] },
      });
    },
    { name: 'transfer_to_Writer', description: 'Hands over to the writer.', schema: z.object({}) },
  );
  const expert = {
    name: 'expert',
    description: 'Knows why.',
    tools: [toAgentTool(lookup)],
    systemPrompt: 'EXPERT',
  };
  const triage = createDeepAgent({
    model: chat,
    tools: [toAgentTool(lookup), ownLookup, transfer],
    subagents: [expert],
    systemPrompt: 'TRIAGE',
  });
  const writer = createDeepAgent({ model: chat, tools: [toAgentTool(lookup)], systemPrompt: 'WRITER' });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('Triage', async ({ messages }) => await triage.invoke({ messages }), { ends: ['Writer'] })
    .addNode(
      'Writer',
      async ({ messages }) => (await writer.invoke({ messages })) as typeof MessagesAnnotation.Update,
    )
    .addEdge(START, 'Triage')
    .compile();
  const { messages } = await graph.invoke({ messages: [{ role: 'user', content: input }] });
  return messages.at(-1)!.text;
});

/** A tool's error ends a deep agent unless middleware makes it something that the model is told. */
const tellingErrors = createMiddleware({
  name: 'tellingErrors',
  wrapToolCall: async (request, handler) => {
    try {
      return await handler(request);
    } catch (error) {
      return new ToolMessage({ content: String(error), tool_call_id: request.toolCall.id!, status: 'error' });
    }
  },
});

export const toolError = agent('toolError', async (input: string) => {
  const middleware = [tellingErrors];
  return await runAgent(input, { model, systemPrompt: 'BREAKER', tools: [broken], middleware });
});

export const flaky = agent(
  'flaky',
  async (input: string) => await runAgent(input, { model, systemPrompt: 'FLAKY' }),
);
export const refused = agent(
  'refused',
  async (input: string) => await runAgent(input, { model, systemPrompt: 'REFUSED' }),
);
export const hanging = agent(
  'hanging',
  async (input: string) => await runAgent(input, { model, systemPrompt: 'HANGING' }),
);

export const approvals = agent('approvals', async (input: string) => {
  return await runAgent(input, { model, systemPrompt: 'CASHIER', tools: [lookup, refund, ownRefund] });
});

export const hears = agent(
  'hears',
  async (input: string) => await runAgent(input, { model, systemPrompt: 'HEARER', onMessage: 'after' }),
);

export const shops = agent('shops', async (input: string) => {
  const args = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning', shop];
  const env = { EFFECTS: process.env['EFFECTS']! };
  const client = new MultiServerMCPClient({
    shop: { transport: 'stdio', command: process.execPath, args, env },
  });
  try {
    const tools = await client.getTools();
    const middleware = [tellingErrors];
    return await runAgent(input, { model, systemPrompt: 'SHOPPER', tools, middleware });
  } finally {
    await client.close();
  }
});

export const remembers = agent('remembers', async (input: string) => {
  const memoryKey = input.split(' ')[0]!;
  return await runAgent(input, { model, systemPrompt: 'KEEPER', tools: [lookup], memoryKey });
});

const Forecast = z.object({ city: z.string(), degrees: z.number() });
export const structured = agent('structured', async (input: string) => {
  return await runAgent(input, { model, systemPrompt: 'FORECASTER', responseFormat: Forecast });
});

export const siblings = agent('siblings', async (input: string) => {
  const twin = createDeepAgent({ model, systemPrompt: 'TWIN', tools: [toAgentTool(lookup)] });
  const ask = async (number: number) => {
    const said = await runAgent(input, { agent: twin });
    note(`${number} ${said}`);
    return said;
  };
  return await Promise.all([ask(0), ask(1)]);
});

const askPerson = ownTool(({ prompt }) => interrupt<string, string>(prompt), {
  name: 'ask_person',
  description: 'Asks a person.',
  schema: z.object({ prompt: z.string() }),
});

export const asks = agent('asks', async (input: string) => {
  await toAgentTool(lookup).invoke({ what: `before ${input}` });
  return (await runAgent(input, { model, systemPrompt: 'ASKER', tools: [askPerson] })).split(',');
});

export const speaks = agent('speaks', async (input: string) => {
  const chat = new ChatOpenAI({ model: 'gpt-4.1-mini' });
  const bursar = { name: 'bursar', description: 'Pays.', tools: [ownRefund], systemPrompt: 'BURSAR' };
  const tools = [toAgentTool(lookup)];
  const speaker = createDeepAgent({ model: chat, tools, subagents: [bursar], systemPrompt: 'SPEAKER' });
  const messages = [{ role: 'user', content: input }];
  let text = '';
  let output = '';
  for await (const [mode, part] of await speaker.stream(
    { messages },
    { streamMode: ['messages', 'values'] },
  )) {
    // It says that it waits, too.
    if (mode === 'values') output = '__interrupt__' in part ? '' : part.messages.at(-1)!.text;
    else if (part[0].type === 'ai') text += part[0].text;
  }
  return { text, output };
});

/** What a deploy changed in the agent below. */
const change = process.env['CHANGE'];
const peek = tool({
  name: 'peek',
  description: change === 'description' ? 'Looks at the account closely.' : 'Looks at the account.',
  parameters,
  readOnly: true,
  execute: async ({ what }) => {
    note(`peek ${what}`);
    return 'seen';
  },
});
const charge = tool({
  name: 'charge',
  description: 'Charges.',
  parameters,
  execute: async ({ what }) => {
    note(`charge ${what}`);
    return 'charged';
  },
});

export const changing = agent('changing', async (input: string) => {
  if (change === 'log') note(`log ${input}`);
  const systemPrompt = change === 'prompt' ? 'CLERK, be polite' : 'CLERK';
  const first = await runAgent(input, { model, systemPrompt, tools: [peek, charge] });
  if (change === 'call') await runAgent(input, { model, systemPrompt: 'EXTRA' });
  return await runAgent(`${input} after ${first}`, { model, systemPrompt: 'CLOSER', tools: [refund] });
});
