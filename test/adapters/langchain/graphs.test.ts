/** Graphs as LangGraph's users write them: each model's answer and tool's call is a step, whatever surrounds it. */
import { expect } from '@jest/globals';
import { RemoveMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  entrypoint,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool, ToolMessage, type ToolRuntime } from 'langchain';
import { z } from 'zod';
import { runAgent } from '../../../adapters/langchain/index.ts';
import { callThenSay, count, errorSeen, scenario, timesRan } from './scenarios.ts';

const chat = () => new ChatOpenAI({ model: 'gpt-4.1-mini' });
const Said = Annotation.Root({
  said: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});
const ask = async (prompt: string, question = 'Go') => {
  const said = [
    { role: 'system', content: prompt },
    { role: 'user', content: question },
  ];
  return (await chat().invoke(said)).text;
};

scenario('branches that ask the same, each with its own answer', {
  script: ({ attempt }) => ({ text: `answer ${attempt}` }),
  body: async (prompt) => {
    const graph = new StateGraph(Said)
      .addNode('begin', () => ({}))
      .addNode('branch', async () => ({ said: [await ask(prompt)] }))
      .addEdge(START, 'begin')
      .addConditionalEdges('begin', () => [1, 2, 3].map(() => new Send('branch', {})), ['branch'])
      .compile();
    return (await graph.invoke({})).said;
  },
  turns: 3,
  expectThat: (live) => expect(live.toSorted()).toEqual(['answer 1', 'answer 2', 'answer 3']),
});

scenario('a graph that goes where chance takes it', {
  script: ({ messages }) => ({ text: `answer to ${messages.at(-1)!.text}` }),
  body: async (prompt) => {
    const by = (name: string) => async () => ({
      said: [await ask(prompt, `${name} ${Math.random()} ${crypto.randomUUID()}`)],
    });
    const graph = new StateGraph(Said)
      .addNode('begin', () => ({}))
      .addNode('even', by('even'))
      .addNode('odd', by('odd'))
      .addEdge(START, 'begin')
      .addConditionalEdges('begin', () => (Math.random() < 0.5 ? 'even' : 'odd'), ['even', 'odd'])
      .addConditionalEdges('even', ({ said }) => (said.length < 8 && Math.random() < 0.9 ? 'odd' : '__end__'))
      .addConditionalEdges('odd', ({ said }) => (said.length < 8 ? 'even' : '__end__'))
      .compile();
    return await graph.invoke({});
  },
  expectThat: (live, { records }) => expect(records).toHaveLength(live.said.length),
});

scenario('a node that is tried again, with another answer', {
  script: ({ attempt }) => ({ text: `answer ${attempt}` }),
  body: async (prompt) => {
    const node = async () => {
      const answer = await ask(prompt);
      if (answer === 'answer 1') throw new Error('of no use');
      return { said: [answer] };
    };
    const retryPolicy = { maxAttempts: 3, initialInterval: 1, logWarning: false };
    const graph = new StateGraph(Said).addNode('n', node, { retryPolicy }).addEdge(START, 'n').compile();
    return (await graph.invoke({})).said;
  },
  turns: 2,
  expectThat: (live) => expect(live).toEqual(['answer 2']),
});

scenario('what a graph streams', {
  script: ({ messages }) => ({ text: `answer to ${messages.at(-1)!.text}` }),
  body: async (prompt) => {
    const graph = new StateGraph(Said)
      .addNode('a', async (_, { writer }) => {
        writer?.('begins');
        return { said: [await ask(prompt, 'a')] };
      })
      .addNode('b', async () => ({ said: [await ask(prompt, 'b')] }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile();
    const parts: unknown[] = [];
    for await (const part of await graph.stream({}, { streamMode: ['updates', 'custom'] })) parts.push(part);
    return parts;
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) =>
    expect(live).toEqual([
      ['custom', 'begins'],
      ['updates', { a: { said: ['answer to a'] } }],
      ['updates', { b: { said: ['answer to b'] } }],
    ]),
});

scenario('tasks of an entrypoint', {
  script: ({ messages }) => ({ text: `answer to ${messages.at(-1)!.text}` }),
  body: async (prompt) => {
    const answer = task('answer', async (question: string) => await ask(prompt, question));
    const flow = entrypoint('flow', async (questions: string[]) => await Promise.all(questions.map(answer)));
    return await flow.invoke(['a', 'b', 'a']);
  },
  turns: 3,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual(['answer to a', 'answer to b', 'answer to a']),
});

scenario('a saver in memory, over two runs of a graph', {
  script: ({ messages }) => ({ text: `${messages.length} messages` }),
  body: async (systemPrompt) => {
    const agent = createAgent({ model: chat(), systemPrompt, checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: 'mine' } };
    const texts = [];
    for (const content of ['one', 'two']) {
      const { messages } = await agent.invoke({ messages: [{ role: 'user', content }] }, config);
      texts.push(messages.at(-1)!.text);
    }
    const saved: Promise<{ values: { messages: [] } }> = agent.getState(config);
    texts.push(`${(await saved).values.messages.length} saved`);
    return texts;
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual(['1 messages', '3 messages', '4 saved']),
});

class OtherSaver extends MemorySaver {}
scenario('a saver that keeps what it has elsewhere', {
  script: () => ({ text: 'never' }),
  body: async (systemPrompt) => {
    const agent = createAgent({ model: chat(), systemPrompt, checkpointer: new OtherSaver() });
    return await runAgent('Hi', { agent }).catch(errorSeen);
  },
  turns: 0,
  expectThat: (live) => expect(live).toMatchObject({ name: 'UnsupportedError' }),
});

scenario('what tools return', {
  script: callThenSay(
    { name: 'whole', arguments: { what: 'x' } },
    { name: 'parts', arguments: { what: 'x' } },
    { name: 'streams', arguments: { what: 'x' } },
    { name: 'updates', arguments: { what: 'x' } },
    { name: 'fails', arguments: { what: 'x' } },
  ),
  body: async (systemPrompt) => {
    const schema = z.object({ what: z.string() });
    const tools = [
      tool(({ what }) => (count('whole'), { got: what }), { name: 'whole', description: 'A', schema }),
      tool(({ what }) => (count('parts'), [`got ${what}`, { raw: 1 }]), {
        name: 'parts',
        description: 'B',
        schema,
        responseFormat: 'content_and_artifact',
      }),
      tool(
        async function* ({ what }: { what: string }) {
          count('streams');
          yield 'half';
          return `all of ${what}`;
        },
        { name: 'streams', description: 'C', schema },
      ),
      tool(
        (_, { toolCallId }: ToolRuntime) => {
          count('updates');
          const message = new ToolMessage({ content: 'updated', tool_call_id: toolCallId, name: 'updates' });
          return new Command({ update: { messages: [message] } });
        },
        { name: 'updates', description: 'D', schema },
      ),
      tool(
        () => {
          count('fails');
          throw new Error('it broke');
        },
        { name: 'fails', description: 'E', schema },
      ),
    ];
    const agent = createAgent({ model: chat(), systemPrompt, tools: tools as never });
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Go' }] });
    const artifacts = messages.map((message) => (message as { artifact?: unknown }).artifact);
    return { text: messages.at(-1)!.text, artifacts: artifacts.filter(Boolean) };
  },
  turns: 2,
  expectThat: (live) => {
    expect(live.artifacts).toEqual([{ raw: 1 }]);
    expect(live.text).toMatch(/^{"got":"x"} \| got x \| all of x \| updated \| .*it broke/);
    for (const what of ['whole', 'parts', 'streams', 'updates', 'fails']) expect(timesRan(what)).toBe(1);
  },
});

scenario('a tool that returns the conversation that it was given', {
  script: callThenSay({ name: 'shorten', arguments: {} }),
  body: async (systemPrompt) => {
    const shorten = tool(
      (_, { state, toolCallId }: ToolRuntime<typeof MessagesAnnotation.State>) => {
        const { messages } = state;
        const done = new ToolMessage({ content: 'done', tool_call_id: toolCallId, name: 'shorten' });
        return new Command({ update: { messages: [...messages, done] } });
      },
      { name: 'shorten', description: 'Shortens.', schema: z.object({}) },
    );
    const agent = createAgent({ model: chat(), systemPrompt, tools: [shorten] });
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'A long question' }] });
    return messages.map(({ type, text }) => `${type} ${text}`);
  },
  turns: 2,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toEqual(['human A long question', 'ai ', 'tool done', 'ai done']);
    expect(JSON.stringify(records[1])).not.toContain('A long question');
  },
});

scenario('a tool that takes a message away', {
  script: callThenSay({ name: 'forget', arguments: {} }),
  body: async (systemPrompt) => {
    const forget = tool(
      (_, { state, toolCallId }: ToolRuntime<typeof MessagesAnnotation.State>) => {
        const done = new ToolMessage({ content: 'done', tool_call_id: toolCallId, name: 'forget' });
        return new Command({
          update: { messages: [new RemoveMessage({ id: state.messages[0]!.id! }), done] },
        });
      },
      { name: 'forget', description: 'Forgets.', schema: z.object({}) },
    );
    const agent = createAgent({ model: chat(), systemPrompt, tools: [forget] });
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'A secret' }] });
    return messages.map(({ type, text }) => `${type} ${text}`);
  },
  turns: 2,
  asOutside: true,
  expectThat: (live) => expect(live).toEqual(['ai ', 'tool done', 'ai done']),
});

scenario('a graph whose loop does not end', {
  script: () => ({ text: 'again' }),
  body: async (prompt) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('n', async () => ({ messages: [{ role: 'ai', content: await ask(prompt) }] }))
      .addEdge(START, 'n')
      .addEdge('n', 'n')
      .compile();
    return await graph.invoke({ messages: [] }, { recursionLimit: 3 }).catch(errorSeen);
  },
  turns: 3,
  expectThat: (live) => expect(live).toMatchObject({ name: 'GraphRecursionError' }),
});
