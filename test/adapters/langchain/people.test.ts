/** What a graph asks people, with the worker restarted while it waits. */
import { expect, test } from '@jest/globals';
import {
  Annotation,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { type AgentMiddleware, createAgent, humanInTheLoopMiddleware, tool as ownTool } from 'langchain';
import { z } from 'zod';
import { runAgent, toAgentTool } from '../../../adapters/langchain/index.ts';
import { step } from '../../../src/index.ts';
import { decided, note, ran, transfer } from './decided.ts';
import { asked, callThenSay, scripts } from './scenarios.ts';

const model = 'openai:gpt-4.1-mini';
const chat = () => new ChatOpenAI({ model: 'gpt-4.1-mini' });
/** Its own types do not go together with `exactOptionalPropertyTypes`. */
const asking = humanInTheLoopMiddleware({
  interruptOn: { transfer: true },
} as never) as unknown as AgentMiddleware;
test('middleware that asks has each call approved, changed or rejected', async () => {
  const ask = (systemPrompt: string) => async () =>
    await runAgent('Hi', {
      model,
      systemPrompt,
      tools: [transfer],
      middleware: [asking],
    });
  const calls = [1, 2].map((amount) => ({ name: 'transfer', arguments: { amount } }));
  scripts['approved and changed'] = callThenSay(...calls);
  const good = await decided(ask('approved and changed'), [
    { id: 'transfer-2', approve: true, arguments: { amount: 20 } },
    { id: 'transfer-1', approve: true },
  ]);
  expect(good.waited).toMatchObject([{ input: { amount: 1 }, edit: {} }, { input: { amount: 2 } }]);
  expect(good.result).toBe('moved 1 | moved 20');
  expect(ran.toSorted()).toEqual(['transfer 1', 'transfer 20']);
  expect(asked('approved and changed')).toHaveLength(2);

  scripts['rejected'] = callThenSay(calls[0]!);
  const bad = await decided(ask('rejected'), [{ id: 'transfer-1', reason: 'not today' }]);
  expect(bad.result).toBe('not today');
  expect(ran).toEqual([]);
});

test('questions of parallel branches are each answered by itself, in any order', async () => {
  const State = Annotation.Root({
    said: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  });
  const asks = (question: string) => () => ({ said: [`${question} ${String(interrupt({ question }))}`] });
  const { result, waited } = await decided(async () => {
    const sub = new StateGraph(State).addNode('c', asks('c')).addEdge(START, 'c').compile();
    const graph = new StateGraph(State)
      .addNode('a', asks('a'))
      .addNode('b', asks('b'))
      .addNode('sub', sub)
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .addEdge(START, 'sub')
      .compile();
    return (await graph.invoke({})).said.toSorted();
  }, [
    { id: 'interrupt-3', value: 3 },
    { id: 'interrupt-2', value: 2 },
    { id: 'interrupt-1', value: 1 },
  ]);
  expect(waited).toMatchObject([{ prompt: 'c' }, { prompt: 'b' }, { prompt: 'a' }]);
  expect(result).toEqual(['a 1', 'b 2', 'c 3']);
});

test('what a node did before it asks is not done again, however often it is run again', async () => {
  scripts['twice the same'] = ({ attempt }) => ({ text: `draft ${attempt}` });
  const draft = async () =>
    (
      await chat().invoke([
        { role: 'system', content: 'twice the same' },
        { role: 'user', content: 'Write' },
      ])
    ).text;
  const { result } = await decided(
    async () => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('n', async () => {
          const drafts = [await draft(), await draft()];
          await step('save', () => void ran.push('saved'));
          await note({ what: 'before' });
          const first = interrupt<string, string>('Which?');
          const third = await draft();
          const second = interrupt<string, string>('Sure?');
          return { messages: [{ role: 'ai', content: [...drafts, first, third, second].join() }] };
        })
        .addEdge(START, 'n')
        .compile({ checkpointer: new MemorySaver() });
      const { messages } = await graph.invoke({ messages: [] }, { configurable: { thread_id: 'mine' } });
      return messages.at(-1)!.text;
    },
    [{ id: 'interrupt-1', value: 'this' }],
    [{ id: 'interrupt-2', value: 'yes' }],
  );
  expect(result).toBe('draft 1,draft 2,this,draft 3,yes');
  expect(ran).toEqual(['saved', 'note before']);
  expect(asked('twice the same')).toHaveLength(3);
});

test('the other tools of a node are not called again when one of them asks', async () => {
  scripts['tools of a node'] = callThenSay(
    { name: 'transfer', arguments: { amount: 1 } },
    { name: 'note', arguments: { what: 'x' } },
    { name: 'ask', arguments: { what: 'Which?' } },
  );
  const ask = ownTool(
    ({ what }) => {
      ran.push(`asks ${what}`);
      const said = String(interrupt({ question: what }));
      ran.push(`heard ${said}`);
      return said;
    },
    { name: 'ask', description: 'Asks.', schema: z.object({ what: z.string() }) },
  );
  const { result } = await decided(async () => {
    const tools = [transfer, toAgentTool(note), ask];
    const bound = chat().bindTools(tools);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({
        messages: [await bound.invoke([{ role: 'system', content: 'tools of a node' }, ...messages])],
      }))
      .addNode('tools', new ToolNode(tools))
      .addEdge(START, 'model')
      .addConditionalEdges('model', ({ messages }) => {
        const { tool_calls: calls } = messages.at(-1) as { tool_calls?: unknown[] };
        return calls?.length ? 'tools' : '__end__';
      })
      .addEdge('tools', 'model')
      .compile();
    const { messages } = await graph.invoke({ messages: [{ role: 'user', content: 'Go' }] });
    return messages.at(-1)!.text;
  }, [{ id: 'interrupt-1', value: 'this' }]);
  expect(result).toBe('moved 1 | noted | this');
  expect(ran.toSorted()).toEqual(['asks Which?', 'asks Which?', 'heard this', 'note x', 'transfer 1']);
  expect(asked('tools of a node')).toHaveLength(2);
});

test('what an agent within a tool asks surfaces at the top, also in a stream', async () => {
  scripts['bursar'] = callThenSay({ name: 'transfer', arguments: { amount: 7 } });
  scripts['speaker'] = callThenSay({ name: 'ask_bursar', arguments: {} });
  const { result } = await decided(async () => {
    const bursar = createAgent({
      model: chat(),
      systemPrompt: 'bursar',
      tools: [transfer],
      middleware: [asking],
    });
    const askBursar = ownTool(
      async () =>
        (await bursar.invoke({ messages: [{ role: 'user', content: 'Pay' }] })).messages.at(-1)!.text,
      { name: 'ask_bursar', description: 'Asks the bursar.', schema: z.object({}) },
    );
    const speaker = createAgent({ model: chat(), systemPrompt: 'speaker', tools: [askBursar] });
    let text = '';
    const stream = await speaker.stream(
      { messages: [{ role: 'user', content: 'Go' }] },
      { streamMode: 'messages' },
    );
    for await (const [message, { langgraph_node }] of stream)
      if (langgraph_node === 'model_request') text += message.text;
    return text;
  }, [{ id: 'transfer-1', approve: true }]);
  expect(result).toBe('moved 7');
  expect(ran).toEqual(['transfer 7']);
  expect([...asked('bursar'), ...asked('speaker')]).toHaveLength(4);
});

test('agents that one node runs in turn have their calls approved once each', async () => {
  const calls = (name: string, amount: number) => {
    scripts[name] = callThenSay({ name: 'transfer', arguments: { amount } });
    return async () =>
      await runAgent('Pay', { model, systemPrompt: name, tools: [transfer], middleware: [asking] });
  };
  const [first, second] = [calls('first teller', 1), calls('second teller', 2)];
  const { result } = await decided(
    async () => {
      const graph = new StateGraph(Annotation.Root({ said: Annotation<string[]> }))
        .addNode('both', async () => ({ said: [await first(), await second()] }))
        .addEdge(START, 'both')
        .compile();
      return (await graph.invoke({})).said;
    },
    [{ id: 'transfer-1', approve: true }],
    [{ id: 'transfer-2', approve: true }],
  );
  expect(result).toEqual(['moved 1', 'moved 2']);
  expect(ran).toEqual(['transfer 1', 'transfer 2']);
  expect([asked('first teller'), asked('second teller')].map(({ length }) => length)).toEqual([2, 2]);
});

test('a tool that asks a model before its graph asks people is told the same plan in each loop', async () => {
  scripts['plans'] = ({ messages, attempt }) => ({ text: `(${messages.at(-1)!.text}) ${attempt}` });
  const says = async (content: string) =>
    (
      await chat().invoke([
        { role: 'system', content: 'plans' },
        { role: 'user', content },
      ])
    ).text;
  const { result, records: all } = await decided(
    async () => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('first', async ({ messages }) => ({ messages: [await says(messages.at(-1)!.text)] }))
        .addNode('asks', ({ messages }) => ({
          messages: [`${messages.at(-1)!.text}, ${String(interrupt({ question: messages.at(-1)!.text }))}`],
        }))
        .addEdge(START, 'first')
        .addEdge('first', 'asks')
        .compile();
      const carryOut = ownTool(
        async () => {
          const plan = await says('plan');
          const { messages } = await graph.invoke({ messages: [{ role: 'user', content: plan }] });
          const summary = await says(`sum up ${messages.at(-1)!.text}`);
          ran.push(`mail ${summary}`);
          return summary;
        },
        { name: 'carry_out', description: 'Plans and does.', schema: z.object({}) },
      );
      const outer = new StateGraph(MessagesAnnotation)
        .addNode('calls', async () => ({ messages: [await carryOut.invoke({})] }))
        .addNode('more', () => ({ messages: [`then ${String(interrupt('More?'))}`] }))
        .addEdge(START, 'calls')
        .addEdge('calls', 'more')
        .compile();
      return (await outer.invoke({ messages: [] })).messages.map(({ text }) => text);
    },
    [{ id: 'interrupt-1', value: 'yes' }],
    [{ id: 'interrupt-2', value: 'no' }],
  );
  const summary = '(sum up ((plan) 1) 1, yes) 1';
  expect(result).toEqual([summary, 'then no']);
  expect(ran).toEqual([`mail ${summary}`]);
  expect(asked('plans')).toHaveLength(3);
  expect(all.filter(({ changedAt }) => changedAt !== undefined)).toEqual([]);
});
