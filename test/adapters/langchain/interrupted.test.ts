/** Where a graph stops, whom it asks then, and when it does not wait any longer. */
import { setTimeout as delay } from 'node:timers/promises';
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
import { runAgent } from '../../../adapters/langchain/index.ts';
import { decided, ran, transfer } from './decided.ts';
import { callThenSay, errorSeen, scripts } from './scenarios.ts';

const chat = () => new ChatOpenAI({ model: 'gpt-4.1-mini' });

test('equal questions keep their askers, whichever comes up first in a loop', async () => {
  const State = Annotation.Root({
    said: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  });
  let loops = 0;
  const { result } = await decided(async () => {
    const isLive = ++loops === 1;
    const asks = (name: string, slow: boolean) => async () => {
      if (slow) await delay(200);
      return { said: [`${name} ${String(interrupt('Approve?'))}`] };
    };
    const graph = new StateGraph(State)
      .addNode('a', asks('a', !isLive))
      .addNode('b', asks('b', isLive))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .compile();
    return (await graph.invoke({})).said;
  }, [
    { id: 'interrupt-1', value: 'first' },
    { id: 'interrupt-2', value: 'second' },
  ]);
  expect(loops).toBe(2);
  expect(result).toEqual(['a first', 'b second']);
});

test('people are asked whatever an invocation is to return, and it returns what the whole of it came to', async () => {
  const graph = () =>
    new StateGraph(Annotation.Root({ said: Annotation<string>, more: Annotation<string> }))
      .addNode('a', (_, { writer }) => {
        writer?.('begins');
        return { said: 'before' };
      })
      .addNode('b', () => ({ said: interrupt<string, string>('b?') }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile();
  const { result, waited } = await decided(
    async () => [
      await graph().invoke({}, { streamMode: 'updates' }),
      await graph().invoke({}, { streamMode: ['updates', 'custom'] }),
      await graph().invoke({}, { outputKeys: 'said' as never }),
      await graph().invoke({}, { outputKeys: ['said'] as never }),
      // It is not interrupted by a person's question, and stays as LangGraph has it.
      await graph().invoke({}, { streamMode: 'updates', interruptBefore: ['b'] }),
    ],
    ...['one', 'two', 'three', 'four'].map((value, i) => [{ id: `interrupt-${i + 1}`, value }]),
  );
  expect(waited).toHaveLength(4);
  expect(result).toEqual([
    [{ a: { said: 'before' } }, { b: { said: 'one' } }],
    [
      ['custom', 'begins'],
      ['updates', { a: { said: 'before' } }],
      ['updates', { b: { said: 'two' } }],
    ],
    'three',
    { said: 'four' },
    [{ a: { said: 'before' } }, { __interrupt__: [] }],
  ]);
});

test('a breakpoint of a graph stops it, and asks nobody', async () => {
  scripts['breakpoint'] = callThenSay({ name: 'transfer', arguments: { amount: 5 } });
  const graph = () =>
    new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({
        messages: [
          await chat()
            .bindTools([transfer])
            .invoke([{ role: 'system', content: 'breakpoint' }, ...messages]),
        ],
      }))
      .addNode('tools', new ToolNode([transfer]))
      .addEdge(START, 'model')
      .addEdge('model', 'tools')
      .compile({ interruptBefore: ['tools'], checkpointer: new MemorySaver() });
  const { result, waited } = await decided(async () => {
    const config = { configurable: { thread_id: 't' } };
    const messages = [{ role: 'user', content: 'Go' }];
    const stopped = await graph().invoke({ messages }, config);
    const short = await runAgent('Go', { agent: graph().withConfig(config) }).catch(errorSeen);
    return [(stopped as unknown as { messages: unknown[] }).messages.length, short];
  }, []);
  expect(waited).toEqual([]);
  expect(ran).toEqual([]);
  expect(result).toEqual([
    2,
    expect.objectContaining({ name: 'UnsupportedError', message: expect.stringContaining('breakpoint') }),
  ]);
});

test('a signal ends the wait for a person, and decisions that nobody can give are not asked for', async () => {
  const State = Annotation.Root({ said: Annotation<string> });
  const graph = (question: unknown) =>
    new StateGraph(State)
      .addNode('n', () => ({ said: interrupt<unknown, string>(question) }))
      .addEdge(START, 'n')
      .compile();
  const { result, records: done } = await decided(async () => {
    const given = new AbortController();
    setTimeout(() => given.abort(new Error('too late')), 200);
    const late = await graph('Well?').invoke({}, { signal: given.signal }).catch(errorSeen);
    const review = {
      actionRequests: [{ name: 'pay', args: {} }],
      reviewConfigs: [{ actionName: 'pay', allowedDecisions: ['respond'] }],
    };
    return [late, await graph(review).invoke({}).catch(errorSeen)];
  }, []);
  expect(result).toEqual([
    expect.objectContaining({ message: 'too late' }),
    expect.objectContaining({
      name: 'UnsupportedError',
      message:
        'Cannot ask people about pay with the decisions respond: allow approve, edit, reject, or some of these.',
    }),
  ]);
  expect(done).toMatchObject([{ kind: 'step', name: 'give up waiting' }]);
});

test('a stream that is left while it waits for a person ends', async () => {
  const { result } = await decided(async () => {
    const graph = new StateGraph(Annotation.Root({ said: Annotation<string> }))
      .addNode('n', () => ({ said: interrupt<string, string>('Well?') }))
      .addEdge(START, 'n')
      .compile();
    const stream = await graph.stream({}, { streamMode: 'custom' });
    const waits = stream.next();
    setTimeout(() => void stream.return(), 200);
    return await waits;
  }, []);
  expect(result).toEqual({ done: true });
});

test('a decision that the graph does not allow is asked for again', async () => {
  const { result, waited } = await decided(
    async () => {
      const graph = new StateGraph(Annotation.Root({ said: Annotation<unknown> }))
        .addNode('n', () => ({
          said: interrupt({
            actionRequests: [{ name: 'pay', args: { usd: 5 } }],
            reviewConfigs: [{ actionName: 'pay', allowedDecisions: ['approve', 'edit'] }],
          }),
        }))
        .addEdge(START, 'n')
        .compile();
      return (await graph.invoke({})).said;
    },
    [{ id: 'pay-1', reason: 'no' }],
    [{ id: 'pay-2', approve: true }],
  );
  expect(waited).toMatchObject([
    { prompt: 'Run pay?' },
    { prompt: 'Run pay? (reject is not possible here, only approve, edit)' },
  ]);
  expect(result).toEqual({ decisions: [{ type: 'approve' }] });
});
