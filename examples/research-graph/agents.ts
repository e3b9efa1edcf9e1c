/** A graph that plans, looks things up in three branches at once, writes a draft, and has a person edit it. */
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { Annotation, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { agent, tool } from 'temporal-agents';
import { toAgentTool } from 'temporal-agents/langchain';
import { z } from 'zod';
import { sectionsAbout } from './documents.ts';

const searchDocs = tool({
  name: 'search_docs',
  description: 'Finds sections of the documentation.',
  parameters: z.object({ query: z.string() }),
  readOnly: true,
  execute: async ({ query }) => await sectionsAbout(query),
});

const Research = Annotation.Root({
  topic: Annotation<string>,
  questions: Annotation<string[]>,
  /** What the branches found, in the order in which they were sent out. */
  findings: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  report: Annotation<string>,
});

const model = () => new ChatOpenAI({ model: process.env['DEMO_MODEL'] ?? 'gpt-4.1-mini' });
const ask = async (instructions: string, about: string) =>
  (await model().invoke([new SystemMessage(instructions), new HumanMessage(about)])).text;

const graph = new StateGraph(Research)
  .addNode('plan', async ({ topic }) => {
    const planner = model().withStructuredOutput(z.object({ questions: z.array(z.string()) }), {
      method: 'jsonSchema',
    });
    const instructions = new SystemMessage('Plan research in documentation: three short questions.');
    return {
      questions: (await planner.invoke([instructions, new HumanMessage(topic)])).questions.slice(0, 3),
    };
  })
  .addNode('research', async ({ question }: { question: string }) => {
    const found = (await toAgentTool(searchDocs).invoke({ query: question })) as string;
    return {
      findings: [
        await ask('Answer the question in one sentence, from what was found.', `${question}\n${found}`),
      ],
    };
  })
  .addNode('draft', async ({ topic, findings }) => ({
    report: await ask('Write a short report from these findings.', `${topic}\n${findings.join('\n')}`),
  }))
  .addNode('edit', ({ report }) => ({
    report: interrupt<object, string>(
      { message: 'Publish this report? Answer with its final text.', report },
      { responseSchema: { type: 'string', minLength: 1 } as never },
    ),
  }))
  .addEdge(START, 'plan')
  .addConditionalEdges(
    'plan',
    ({ questions }) => questions.map((question) => new Send('research', { question })),
    ['research'],
  )
  .addEdge('research', 'draft')
  .addEdge('draft', 'edit')
  .compile();

export const researcher = agent(
  'researcher',
  async (topic: string) => (await graph.invoke({ topic })).report,
);
