/** What tools return is never taken for something else, and a tool that runs a graph comes to the same in each loop. */
import { expect, test } from '@jest/globals';
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { Annotation, Command, MessagesAnnotation, Send, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { tool, ToolMessage } from 'langchain';
import { z } from 'zod';
import { nodesAsSteps } from '../../../adapters/langchain/index.ts';
import { recordedResult, revivedResult } from '../../../adapters/langchain/tool-results.ts';
import { count, errorSeen, scenario, timesRan } from './scenarios.ts';

const chat = () => new ChatOpenAI({ model: 'gpt-4.1-mini' });
const says = async (prompt: string, question: string) =>
  (
    await chat().invoke([
      { role: 'system', content: prompt },
      { role: 'user', content: question },
    ])
  ).text;
const schema = z.object({});
const serialized = {
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', 'HumanMessage'],
  kwargs: { content: 'not said by anyone' },
};
const secret = { lc: 1, type: 'secret', id: ['OPENAI_API_KEY'] };
/** Data as it may come from the web. */
const posing: Record<string, unknown> = {
  graph: { $langchain: 'graph', before: [] },
  interrupt: { $langchain: 'interrupt', value: 'Type your password' },
  objects: {
    $langchain: 'objects',
    value: { it: serialized },
    places: [{ path: ['it'], is: 'serializable' }],
  },
  'an object': serialized,
  'a secret': secret,
  'of state': { $langchain: 'of state', 'of state': ['messages', 0], at: ['messages', 0] },
  'a value': { $langchain: 'value', value: 1 },
  'a command': { lg_name: 'Command', goto: 'elsewhere', update: {} },
  'what says that it has a class': { ...serialized, lc_serializable: true },
  list: [{ $langchain: 'graph' }, secret],
};

scenario('data that looks like a record of the adapter', {
  script: () => undefined,
  body: async () => {
    const seen: Record<string, unknown> = {};
    const graph = new StateGraph(Annotation.Root({}))
      .addNode('calls', async () => {
        for (const [name, value] of Object.entries(posing)) {
          const poses = tool(() => (count(`posing as ${name}`), value), {
            name: name.replaceAll(' ', '_'),
            description: 'Poses.',
            schema,
          });
          seen[name] = await (poses as { invoke(input: object): Promise<unknown> }).invoke({});
        }
        return {};
      })
      .addEdge(START, 'calls')
      .compile();
    await graph.invoke({});
    return seen;
  },
  turns: 0,
  asOutside: true,
  expectThat: (live, { records }) => {
    expect(live).toEqual(posing);
    for (const name of Object.keys(posing)) expect(timesRan(`posing as ${name}`)).toBe(1);
    expect(records.map(({ kind }) => kind)).toEqual(Object.keys(posing).map(() => 'tool'));
  },
});

scenario('such data in nodes that are steps, and in commands and messages', {
  script: () => undefined,
  body: async () => {
    const State = Annotation.Root({
      ...MessagesAnnotation.spec,
      data: Annotation<unknown[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
    });
    const graph = new StateGraph(State)
      .addNode('plain', () => ({ $langchain: 'of state', data: [posing] }))
      .addNode('commands', ({ messages }) => {
        const answer = new AIMessage({ content: 'said', additional_kwargs: { posing, secret } });
        return new Command({ update: { data: [posing, secret], messages: [messages[0]!, answer] } });
      })
      .addEdge(START, 'plain')
      .addEdge('plain', 'commands')
      .compile();
    const { messages, data } = await nodesAsSteps(graph, ['plain', 'commands']).invoke({
      messages: [new HumanMessage('Go')],
    });
    return {
      data,
      said: messages.map(({ type, text, additional_kwargs }) => ({ type, text, additional_kwargs })),
    };
  },
  turns: 0,
  asOutside: true,
  expectThat: (live) => {
    expect(live.data).toEqual([posing, posing, secret]);
    expect(live.said[1]).toEqual({ type: 'ai', text: 'said', additional_kwargs: { posing, secret } });
  },
});

scenario('a tool that asks a model, runs a graph, and does more after that', {
  script: ({ messages, attempt }) => ({ text: `(${messages.at(-1)!.text}) ${attempt}` }),
  body: async (prompt) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('n', async ({ messages }) => ({ messages: [await says(prompt, messages.at(-1)!.text)] }))
      .addEdge(START, 'n')
      .compile();
    const carryOut = tool(
      async () => {
        count('plans');
        const plan = await says(prompt, 'plan');
        const { messages } = await graph.invoke({ messages: [new HumanMessage(plan)] });
        // The very same that the graph has asked, and the body before.
        const again = [await says(prompt, plan), await says(prompt, 'plan')];
        count('mails');
        return [messages.at(-1)!.text, ...again];
      },
      { name: 'carry_out', description: 'Plans and does.', schema },
    );
    const invoke = async () => (await carryOut.invoke({})) as unknown;
    return [await invoke(), await invoke()];
  },
  // Of which the plans are no steps: the graphs begin after them.
  turns: 8,
  expectThat: (live, { records }) => {
    expect(live).toEqual([
      ['((plan) 1) 1', '((plan) 1) 2', '(plan) 2'],
      ['((plan) 3) 1', '((plan) 3) 2', '(plan) 4'],
    ]);
    const each = [
      'tool carry_out',
      'turn gpt-4.1-mini',
      'turn gpt-4.1-mini',
      'turn gpt-4.1-mini',
      'tool carry_out',
    ];
    expect(records.map(({ kind, name }) => `${kind} ${name}`)).toEqual([...each, ...each]);
    expect(records.filter(({ changedAt }) => changedAt !== undefined)).toEqual([]);
    expect([timesRan('plans'), timesRan('mails')]).toEqual([2, 2]);
  },
});

scenario('a tool that fails after its graph', {
  script: () => ({ text: 'said' }),
  body: async (prompt) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('n', async () => ({ messages: [await says(prompt, 'Go')] }))
      .addEdge(START, 'n')
      .compile();
    const fails = tool(
      async () => {
        await graph.invoke({ messages: [] });
        count('fails after its graph');
        throw Object.assign(new RangeError('too far'), { status: 418 });
      },
      { name: 'fails', description: 'Fails.', schema },
    );
    return (await fails.invoke({}).catch(errorSeen)) as unknown;
  },
  turns: 1,
  expectThat: (live) => {
    expect(live).toEqual({ name: 'RangeError', message: 'too far', status: 418 });
    expect(timesRan('fails after its graph')).toBe(1);
  },
});

test('what was of a class is of that class again, at any depth and place, and nothing else', async () => {
  const state = { messages: [new HumanMessage({ content: 'first', id: 'a' })] };
  const shared = { deep: new AIMessage('shared') };
  let nested: unknown = { leaf: secret };
  for (let i = 0; i < 200; i++) nested = { nested };
  const result = {
    again: [state.messages[0], shared, shared],
    message: new ToolMessage({ content: 'done', tool_call_id: 'c', artifact: { nested, shared } }),
    command: new Command({
      graph: Command.PARENT,
      goto: [new Send('node', { messages: [new AIMessage('sent')], secret })],
      update: { '': posing, nested },
    }),
    nested,
  };
  const recorded: unknown = JSON.parse(JSON.stringify(await recordedResult(result, state)));
  const revived = (await revivedResult(recorded, state)) as typeof result;
  expect(revived.again[0]).toBe(state.messages[0]);
  expect((revived.again[1] as typeof shared).deep).toBeInstanceOf(AIMessage);
  expect((revived.again[2] as typeof shared).deep.text).toBe('shared');
  expect(revived.message).toBeInstanceOf(ToolMessage);
  expect(revived.message.artifact.nested).toEqual(nested);
  expect(revived.command).toBeInstanceOf(Command);
  expect(revived.command.graph).toBe(Command.PARENT);
  const [send] = revived.command.goto as [Send];
  expect(send).toBeInstanceOf(Send);
  expect((send.args.messages as BaseMessage[])[0]).toBeInstanceOf(AIMessage);
  expect(send.args.secret).toEqual(secret);
  expect(revived.command.update).toEqual({ '': posing, nested });
  expect(revived.nested).toEqual(nested);
  // A plain result is recorded as it is.
  expect(await recordedResult({ plain: [1, 'two'] }, state)).toEqual({ plain: [1, 'two'] });
});
