/** What code of a graph has that is run again: after an answer of a person, after an error, in another process. */
import { expect, test } from '@jest/globals';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { InMemoryCache } from '@langchain/langgraph-checkpoint';
import { tool as ownTool } from 'langchain';
import { z } from 'zod';
import { nodesAsSteps } from '../../../adapters/langchain/index.ts';
import { step } from '../../../src/index.ts';
import { decided, ran, transfer } from './decided.ts';

const State = Annotation.Root({ said: Annotation<unknown> });
/** A graph of one node. */
const graphOf = (node: () => Promise<unknown>, retryPolicy?: { maxAttempts: number }) =>
  new StateGraph(State)
    .addNode(
      'n',
      async () => ({ said: await node() }),
      retryPolicy && {
        retryPolicy: { initialInterval: 10, jitter: false, logWarning: false, ...retryPolicy },
      },
    )
    .addEdge(START, 'n')
    .compile();

test('answers are as they were, though the code changed them in place', async () => {
  const list = ownTool(() => ({ items: ['milk'] }) as never, {
    name: 'list',
    description: 'Lists.',
    schema: z.object({}),
  });
  const { result, waited } = await decided(
    async () => {
      const shop = async () => {
        const loaded = await step('load', () => ['milk']);
        loaded.push('bread');
        const { items } = (await list.invoke({})) as { items: string[] };
        items.push('bread');
        interrupt(`Order ${loaded.join()}?`);
        interrupt(`And ${items.join()}?`);
        return [loaded, items];
      };
      return (await graphOf(shop).invoke({})).said;
    },
    [{ id: 'interrupt-1', value: 'yes' }],
    [{ id: 'interrupt-2', value: 'yes' }],
  );
  expect(waited).toMatchObject([{ prompt: 'Order milk,bread?' }, { prompt: 'And milk,bread?' }]);
  expect(result).toEqual([
    ['milk', 'bread'],
    ['milk', 'bread'],
  ]);
});

test('a node that was tried again before it asked goes on with that attempt', async () => {
  const { result, records } = await decided(
    async () => {
      let attempts = 0;
      const pay = async () => {
        if (++attempts === 1) throw new Error('its own connection broke');
        const moved = await transfer.invoke({ amount: 5 });
        return `${moved}, ${interrupt<string, string>('Sure?')}, ${interrupt<string, string>('Really?')}`;
      };
      return (await graphOf(pay, { maxAttempts: 3 }).invoke({})).said;
    },
    [{ id: 'interrupt-1', value: 'yes' }],
    [{ id: 'interrupt-2', value: 'no' }],
  );
  expect(result).toBe('moved 5, yes, no');
  expect(records.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'tool transfer',
    'approval interrupt',
    'approval interrupt',
  ]);
  expect(ran).toEqual(['transfer 5']);
});

test('an attempt after an error asks anew', async () => {
  const { result } = await decided(async () => {
    const draw = async () => {
      const drawn = await step('draw', () => ran.push('draw'));
      if (drawn < 3) throw new Error(`${drawn} will not do`);
      return `${drawn}, ${interrupt<string, string>('Keep it?')}`;
    };
    return (await graphOf(draw, { maxAttempts: 3 }).invoke({})).said;
  }, [{ id: 'interrupt-1', value: 'yes' }]);
  expect(result).toBe('3, yes');
  expect(ran).toEqual(['draw', 'draw', 'draw']);
});

test.each(['node', 'tool'])(
  'a %s that is given a Map is another step once that holds other things',
  async (what) => {
    let loops = 0;
    const Keyed = Annotation.Root({ prices: Annotation<Map<string, number>>, said: Annotation<unknown> });
    const sumOf = (prices: Map<string, number>) => {
      ran.push(`sum ${[...prices.values()].join()}`);
      return [...prices.values()].join();
    };
    const sum = ownTool(({ prices }) => sumOf(prices), {
      name: 'sum',
      description: 'Sums.',
      schema: z.object({ prices: z.map(z.string(), z.number()) }),
    });
    const { result } = await decided(async () => {
      const prices = new Map([['milk', ++loops]]);
      const graph = new StateGraph(Keyed)
        .addNode('sum', async (state) => ({
          said: what === 'node' ? sumOf(state.prices) : await sum.invoke({ prices: state.prices }),
        }))
        .addNode('ask', ({ said }) => ({ said: `${String(said)} ${interrupt<string, string>('Well?')}` }))
        .addEdge(START, 'sum')
        .addEdge('sum', 'ask')
        .compile();
      return (await (what === 'node' ? nodesAsSteps(graph, ['sum']) : graph).invoke({ prices })).said;
    }, [{ id: 'interrupt-1', value: 'done' }]);
    expect([loops, result]).toEqual([2, '2 done']);
    expect(ran).toEqual(['sum 1', 'sum 2']);
  },
);

test('a cache of nodes is not asked: another run may have filled it, in this process alone', async () => {
  const graph = new StateGraph(State)
    .addNode('n', async () => ({ said: await step('draw', () => ran.push('draw')) }), {
      cachePolicy: { ttl: 600 },
    })
    .addEdge(START, 'n')
    .compile({ cache: new InMemoryCache() });
  const twice = async () => [await graph.invoke({}), await graph.invoke({})].map(({ said }) => said);
  for (let run = 0; run < 2; run++) expect((await decided(twice)).result).toEqual([1, 2]);
});

test('arguments that JSON cannot hold are recorded as text', async () => {
  const pay = ownTool(({ cents, to }) => `${cents + 1n} to ${[...to].join()}`, {
    name: 'pay',
    description: 'Pays.',
    schema: z.object({ cents: z.bigint(), to: z.set(z.string()) }),
  });
  const { result, records } = await decided(
    async () => (await pay.invoke({ cents: 5n, to: new Set(['me']) })) as unknown,
  );
  expect(result).toBe('6 to me');
  expect(records.map(({ name, value }) => [name, value])).toEqual([['pay', '6 to me']]);
});
