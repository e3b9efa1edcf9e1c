/** Nodes and tasks that whoever runs a graph declares to be one step each. */
import { expect, test } from '@jest/globals';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  END,
  entrypoint,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { nodesAsSteps } from '../../../adapters/langchain/index.ts';
import { count, errorSeen, scenario, timesRan } from './scenarios.ts';

const Said = Annotation.Root({
  said: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});
const ask = async (prompt: string) =>
  (await new ChatOpenAI({ model: 'gpt-4.1-mini' }).invoke([{ role: 'system', content: prompt }])).text;
const names = ({ records }: { records: { kind: string; name: string }[] }) =>
  records.map(({ kind, name }) => `${kind} ${name}`);

scenario('a node is run once, with the model that it asks', {
  script: ({ attempt }) => ({ text: `answer ${attempt}` }),
  body: async (prompt) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('fetch', async () => {
        count(prompt);
        return { messages: [new AIMessage(await ask(prompt))] };
      })
      .addNode('read', async ({ messages }) => ({
        messages: [new HumanMessage(`read ${messages.at(-1)!.text}`)],
      }))
      .addEdge(START, 'fetch')
      .addEdge('fetch', 'read')
      .compile();
    const { messages } = await nodesAsSteps(graph, ['fetch']).invoke({ messages: [new HumanMessage('Go')] });
    return messages.map(({ type, text, id }) => ({ type, text, id }));
  },
  turns: 1,
  expectThat: (live, outcome) => {
    expect(live).toMatchObject([
      { type: 'human', text: 'Go' },
      { type: 'ai', text: 'answer 1' },
      { type: 'human', text: 'read answer 1' },
    ]);
    expect(names(outcome)).toEqual(['step fetch']);
    expect(timesRan('a node is run once, with the model that it asks')).toBe(1);
  },
});

scenario('a node that gives commands, in branches of the same state', {
  script: () => undefined,
  body: async (name) => {
    const graph = new StateGraph(Said)
      .addNode(
        'begin',
        () => new Command({ goto: ['a', 'a', 'b'].map((said) => new Send('branch', { said })) }),
        {
          ends: ['branch'],
        },
      )
      .addNode(
        'branch',
        ({ said }) => {
          count(name);
          return new Command({ update: { said: [`${said} ${timesRan(name)}`] }, goto: END });
        },
        { ends: [END] },
      )
      .addEdge(START, 'begin')
      .compile();
    // With a config, it is another object of the same nodes.
    return (
      await nodesAsSteps(graph, ['begin', 'branch'])
        .withConfig({ tags: ['t'] })
        .invoke({})
    ).said;
  },
  turns: 0,
  expectThat: (live, outcome) => {
    expect(live).toEqual(['a 1', 'a 2', 'b 3']);
    expect(names(outcome)).toEqual(['step begin', 'step branch', 'step branch', 'step branch']);
    expect(timesRan('a node that gives commands, in branches of the same state')).toBe(3);
  },
});

scenario('a node that is tried again by its own policy, and by that of its step', {
  script: () => undefined,
  body: async (name) => {
    const node = () => {
      count(name);
      if (timesRan(name) < 4) throw new Error(`failed ${timesRan(name)}`);
      return { said: [`came at ${timesRan(name)}`] };
    };
    const retryPolicy = { maxAttempts: 3, initialInterval: 1, logWarning: false };
    const graph = new StateGraph(Said).addNode('n', node, { retryPolicy }).addEdge(START, 'n').compile();
    const retries = { maximumAttempts: 2, initialInterval: 1 };
    return (await nodesAsSteps(graph, { n: { retries } }).invoke({})).said;
  },
  turns: 0,
  expectThat: (live, { records }) => {
    expect(live).toEqual(['came at 4']);
    expect(records.map(({ failure, value }) => failure?.message ?? value)).toEqual([
      'failed 2',
      { said: ['came at 4'] },
    ]);
    expect(timesRan('a node that is tried again by its own policy, and by that of its step')).toBe(4);
  },
});

scenario('tasks of an entrypoint, two of them with the same arguments', {
  script: () => undefined,
  body: async (name) => {
    const pay = task('pay', async (to: string) => {
      count(name);
      return { to, number: timesRan(name) };
    });
    const graph = entrypoint(
      'payments',
      async (to: string) => await Promise.all([pay(to), pay(to), pay('bob')]),
    );
    return await nodesAsSteps(graph, ['pay']).invoke('ann');
  },
  turns: 0,
  expectThat: (live, outcome) => {
    expect(live).toEqual([
      { to: 'ann', number: 1 },
      { to: 'ann', number: 2 },
      { to: 'bob', number: 3 },
    ]);
    expect(names(outcome)).toEqual(['step pay', 'step pay', 'step pay']);
    expect(timesRan('tasks of an entrypoint, two of them with the same arguments')).toBe(3);
  },
});

scenario('a node that is a step and asks people', {
  script: () => undefined,
  body: async () => {
    const graph = new StateGraph(Said)
      .addNode('n', () => ({ said: [interrupt<string, string>('Really?')] }))
      .addEdge(START, 'n')
      .compile();
    return await nodesAsSteps(graph, ['n']).invoke({}).catch(errorSeen);
  },
  turns: 0,
  expectThat: (live) =>
    expect(live).toMatchObject({
      name: 'UnsupportedError',
      message:
        'Cannot ask people in node n, which is a step: interrupt() runs a node again. Ask in a node of its own, or do not make this one a step.',
    }),
});

test('what cannot be a step is said where it is declared', () => {
  const inner = new StateGraph(Said)
    .addNode('n', () => ({}))
    .addEdge(START, 'n')
    .compile();
  const graph = new StateGraph(Said)
    .addNode('inner', inner)
    .addNode('own', () => ({}))
    .addEdge(START, 'inner')
    .addEdge('inner', 'own')
    .compile({ name: 'Outer' });
  expect(() => nodesAsSteps(graph, ['onw'])).toThrow(
    'Cannot make node onw of Outer a step: there is no such node.',
  );
  expect(() => nodesAsSteps(graph, ['inner'])).toThrow(
    'Cannot make node inner of Outer a step: it is a graph or a runnable, not a function. Call it in one.',
  );
  expect(() => nodesAsSteps(graph, { own: { retries: -1 } })).toThrow(
    'Cannot make node own of Outer a step: "retries" must be a whole number, 0 or more.',
  );
  expect(() => nodesAsSteps({}, ['own'])).toThrow('Cannot make nodes steps: that is no compiled graph.');
});
