/** The contract's agents, in LangChain and LangGraph. */
import { Command, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, ToolMessage, type ToolRuntime, tool as ownTool } from 'langchain';
import { z } from 'zod';
import { agent } from '../../src/index.ts';
import { runAgent, toAgentTool } from '../../adapters/langchain/index.ts';
import { note } from '../kit/effects.ts';
import { broken, change, charge, lookup, peek, refund } from './contract-tools.ts';
import { askPerson, ownLookup, ownRefund, withShop } from './langchain-tools.ts';

const model = 'openai:gpt-4.1-mini';

export const steps = agent('steps', async (input: string) => {
  const chat = new ChatOpenAI({ model: 'gpt-4.1-mini' });
  const expert = createAgent({ model: chat, tools: [toAgentTool(lookup)], systemPrompt: 'EXPERT' });
  const askExpert = ownTool(
    async ({ input: question }) => {
      const { messages } = await expert.invoke({ messages: [{ role: 'user', content: question }] });
      return messages.at(-1)!.text;
    },
    { name: 'ask_expert', description: 'Asks the expert.', schema: z.object({ input: z.string() }) },
  );
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
  const triage = createAgent({
    model: chat,
    tools: [toAgentTool(lookup), ownLookup, askExpert, transfer],
    systemPrompt: 'TRIAGE',
  });
  const writer = createAgent({ model: chat, tools: [toAgentTool(lookup)], systemPrompt: 'WRITER' });
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

export const toolError = agent('toolError', async (input: string) => {
  return await runAgent(input, { model, systemPrompt: 'BREAKER', tools: [broken] });
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
  return await withShop(async (tools) => {
    return await runAgent(input, { model, systemPrompt: 'SHOPPER', tools });
  });
});

export const remembers = agent('remembers', async (input: string) => {
  const memoryKey = input.split(' ')[0]!;
  return await runAgent(input, { model, systemPrompt: 'KEEPER', tools: [lookup], memoryKey });
});

export const asks = agent('asks', async (input: string) => {
  await toAgentTool(lookup).invoke({ what: `before ${input}` });
  return (await runAgent(input, { model, systemPrompt: 'ASKER', tools: [askPerson] })).split(',');
});

export const speaks = agent('speaks', async (input: string) => {
  const chat = new ChatOpenAI({ model: 'gpt-4.1-mini' });
  const bursar = createAgent({ model: chat, tools: [ownRefund], systemPrompt: 'BURSAR' });
  const askBursar = ownTool(
    async ({ input: question }) => {
      const { messages } = await bursar.invoke({ messages: [{ role: 'user', content: question }] });
      return messages.at(-1)!.text;
    },
    { name: 'ask_bursar', description: 'Asks the bursar.', schema: z.object({ input: z.string() }) },
  );
  const tools = [toAgentTool(lookup), askBursar];
  const speaker = createAgent({ model: chat, tools, systemPrompt: 'SPEAKER' });
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

const Forecast = z.object({ city: z.string(), degrees: z.number() });
export const structured = agent('structured', async (input: string) => {
  return await runAgent(input, { model, systemPrompt: 'FORECASTER', responseFormat: Forecast });
});

export const siblings = agent('siblings', async (input: string) => {
  const twin = createAgent({ model, systemPrompt: 'TWIN', tools: [toAgentTool(lookup)] });
  const ask = async (number: number) => {
    const said = await runAgent(input, { agent: twin });
    note(`${number} ${said}`);
    return said;
  };
  return await Promise.all([ask(0), ask(1)]);
});

export const changing = agent('changing', async (input: string) => {
  if (change === 'log') note(`log ${input}`);
  const systemPrompt = change === 'prompt' ? 'CLERK, be polite' : 'CLERK';
  const first = await runAgent(input, { model, systemPrompt, tools: [peek, charge] });
  if (change === 'call') await runAgent(input, { model, systemPrompt: 'EXTRA' });
  return await runAgent(`${input} after ${first}`, { model, systemPrompt: 'CLOSER', tools: [refund] });
});
