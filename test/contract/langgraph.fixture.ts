/** The contract's agents, as graphs of LangGraph written by hand. */
import { type AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { type DynamicStructuredTool, tool as ownTool } from '@langchain/core/tools';
import { Annotation, interrupt, MessagesAnnotation, Send, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { agent } from '../../src/index.ts';
import { MemoryCheckpointSaver, runAgent, toAgentTool } from '../../adapters/langgraph/index.ts';
import { note } from '../kit/effects.ts';
import { broken, change, charge, lookup, peek, refund } from './contract-tools.ts';
import { ownLookup, ownRefund, withShop } from './langchain-tools.ts';

const model = new ChatOpenAI({ model: 'gpt-4.1-mini' });

/** A model and its tools in a circle. */
function circle(
  instructions: string,
  tools: DynamicStructuredTool[] = [],
  checkpointer?: MemoryCheckpointSaver,
) {
  const asked = tools.length > 0 ? model.bindTools(tools) : model;
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({
      messages: [await asked.invoke([new SystemMessage(instructions), ...messages])],
    }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile({ ...(checkpointer && { checkpointer }) });
}

/** A graph as a tool of another. */
function asTool(name: string, graph: ReturnType<typeof circle>): DynamicStructuredTool {
  const ask = async ({ input }: { input: string }) => {
    const { messages } = await graph.invoke({ messages: [{ role: 'user', content: input }] });
    return messages.at(-1)!.text;
  };
  return ownTool(ask, { name, description: 'Asks another graph.', schema: z.object({ input: z.string() }) });
}

export const steps = agent('steps', async (input: string) => {
  const tools = [
    toAgentTool(lookup),
    ownLookup,
    asTool('ask_expert', circle('EXPERT', [toAgentTool(lookup)])),
  ];
  const transfer = ownTool(() => 'Writer goes on.', {
    name: 'transfer_to_Writer',
    description: 'Hands over to the writer.',
    schema: z.object({}),
  });
  const triage = model.bindTools([...tools, transfer]);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('triage', async ({ messages }) => ({
      messages: [await triage.invoke([new SystemMessage('TRIAGE'), ...messages])],
    }))
    .addNode('tools', new ToolNode(tools))
    .addNode('hand over', async ({ messages }) => {
      const call = (messages.at(-1) as AIMessage).tool_calls![0]!;
      return { messages: [await transfer.invoke<typeof call, ToolMessage>(call)] };
    })
    .addNode('writer', circle('WRITER', [toAgentTool(lookup)]))
    .addEdge(START, 'triage')
    .addConditionalEdges('triage', ({ messages }) => {
      const { tool_calls: calls = [] } = messages.at(-1) as AIMessage;
      return calls[0]?.name === transfer.name ? 'hand over' : 'tools';
    })
    .addEdge('tools', 'triage')
    .addEdge('hand over', 'writer')
    .compile();
  const { messages } = await graph.invoke({ messages: [{ role: 'user', content: input }] });
  return messages.at(-1)!.text;
});

export const toolError = agent('toolError', async (input: string) => {
  return await runAgent(input, { agent: circle('BREAKER', [toAgentTool(broken)]) });
});

export const flaky = agent(
  'flaky',
  async (input: string) => await runAgent(input, { agent: circle('FLAKY') }),
);
export const refused = agent(
  'refused',
  async (input: string) => await runAgent(input, { agent: circle('REFUSED') }),
);
export const hanging = agent(
  'hanging',
  async (input: string) => await runAgent(input, { agent: circle('HANGING') }),
);

export const approvals = agent('approvals', async (input: string) => {
  const tools = [toAgentTool(lookup), toAgentTool(refund), ownRefund];
  return await runAgent(input, { agent: circle('CASHIER', tools) });
});

export const hears = agent(
  'hears',
  async (input: string) => await runAgent(input, { agent: circle('HEARER'), onMessage: 'after' }),
);

export const shops = agent('shops', async (input: string) => {
  return await withShop(async (tools) => {
    return await runAgent(input, { agent: circle('SHOPPER', tools) });
  });
});

export const remembers = agent('remembers', async (input: string) => {
  const keeper = circle('KEEPER', [toAgentTool(lookup)], new MemoryCheckpointSaver());
  const config = { configurable: { thread_id: input.split(' ')[0]! } };
  const { messages } = await keeper.invoke({ messages: [{ role: 'user', content: input }] }, config);
  return messages.at(-1)!.text;
});

export const speaks = agent('speaks', async (input: string) => {
  const tools = [toAgentTool(lookup), asTool('ask_bursar', circle('BURSAR', [ownRefund]))];
  const messages = [{ role: 'user', content: input }];
  let text = '';
  let output = '';
  for await (const [mode, part] of await circle('SPEAKER', tools).stream(
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
  const forecaster = model.withStructuredOutput(Forecast, { method: 'jsonSchema' });
  const graph = new StateGraph(Annotation.Root({ forecast: Annotation<z.infer<typeof Forecast>> }))
    .addNode('ask', async () => ({
      forecast: await forecaster.invoke([new SystemMessage('FORECASTER'), new HumanMessage(input)]),
    }))
    .addEdge(START, 'ask')
    .compile();
  return (await graph.invoke({})).forecast;
});

/** What several branches add, each at its place. */
const Said = Annotation.Root({
  said: Annotation<string[]>({
    reducer: (all, more) => Object.assign<string[], string[]>([...all], more),
    default: () => [],
  }),
});

export const siblings = agent('siblings', async (input: string) => {
  const twin = circle('TWIN', [toAgentTool(lookup)]);
  const graph = new StateGraph(Said)
    .addNode('ask', async ({ number }: { number: number }) => {
      const said = await runAgent(input, { agent: twin });
      note(`${number} ${said}`);
      return { said: Object.assign([], { [number]: said }) as string[] };
    })
    .addConditionalEdges(START, () => [0, 1].map((number) => new Send('ask', { number })), ['ask'])
    .compile();
  return (await graph.invoke({})).said;
});

export const asks = agent('asks', async (input: string) => {
  const ask = (prompt: string, number: number) => () => ({
    said: Object.assign([], { [number]: interrupt<string, string>(prompt) }) as string[],
  });
  const graph = new StateGraph(Said)
    .addNode('first', ask('first?', 0))
    .addNode('second', async () => {
      await toAgentTool(lookup).invoke({ what: `before ${input}` });
      return ask('second?', 1)();
    })
    // One is a graph within the graph.
    .addNode(
      'third',
      new StateGraph(Said).addNode('inner', ask('third?', 2)).addEdge(START, 'inner').compile(),
    )
    .addEdge(START, 'first')
    .addEdge(START, 'second')
    .addEdge(START, 'third')
    .compile();
  return (await graph.invoke({})).said;
});

export const changing = agent('changing', async (input: string) => {
  if (change === 'log') note(`log ${input}`);
  const clerk = circle(change === 'prompt' ? 'CLERK, be polite' : 'CLERK', [
    toAgentTool(peek),
    toAgentTool(charge),
  ]);
  const first = await runAgent(input, { agent: clerk });
  if (change === 'call') await runAgent(input, { agent: circle('EXTRA') });
  return await runAgent(`${input} after ${first}`, { agent: circle('CLOSER', [toAgentTool(refund)]) });
});
