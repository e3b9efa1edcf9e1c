/** Savers and stores that keep what they have in the process. */
import { expect } from '@jest/globals';
import {
  Annotation,
  InMemoryStore,
  type LangGraphRunnableConfig,
  MemorySaver,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { callThenSay, scenario } from './scenarios.ts';

const Said = Annotation.Root({
  said: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

scenario('states of a saver of its own: by thread, changed by the code of the run, and of no thread at all', {
  script: () => undefined,
  body: async () => {
    const graph = new StateGraph(Said)
      .addNode('n', ({ said }) => ({ said: [`after ${said.length}`] }))
      .addEdge(START, 'n')
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: 't' } };
    await graph.invoke({ said: ['a'] }, config);
    await graph.bulkUpdateState(config, [{ updates: [{ values: { said: ['changed'] }, asNode: 'n' }] }]);
    const { said } = await graph.invoke({ said: ['b'] }, config);
    return [said, await graph.invoke({ said: ['c'] }).catch((error: Error) => error.name)];
  },
  turns: 0,
  asOutside: true,
  expectThat: (live) => expect(live[0]).toEqual(['a', 'after 1', 'changed', 'b', 'after 4']),
});

const shared = new InMemoryStore();
scenario(
  'a store in memory that runs share: each loop has its own, and a tool that is not run again may not fill it',
  {
    script: callThenSay({ name: 'keep', arguments: {} }),
    body: async (systemPrompt) => {
      const graph = new StateGraph(Said)
        .addNode('n', async (_, { store }) => {
          const before = await store!.search(['n']);
          await store!.put(['n'], `k${before.length}`, { at: before.length });
          return { said: [`had ${before.length}`] };
        })
        .addEdge(START, 'n')
        .compile({ store: shared });
      const { said } = await graph.invoke({});
      const keep = tool(async (_, { store }: LangGraphRunnableConfig) => await store!.put(['t'], 'k', {}), {
        name: 'keep',
        description: 'Keeps.',
        schema: z.object({}),
      });
      const agent = createAgent({ model: 'openai:gpt-4.1-mini', systemPrompt, tools: [keep], store: shared });
      const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Go' }] });
      return [said, (await graph.invoke({})).said, messages.at(-1)!.text, await shared.search([])];
    },
    turns: 2,
    expectThat: (live) =>
      expect(live).toEqual([
        ['had 0'],
        ['had 1'],
        expect.stringContaining('Cannot put an item into an InMemoryStore in the body of a tool'),
        [],
      ]),
  },
);
