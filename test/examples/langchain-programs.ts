/** The programs of `langchain-js`: what they are asked, what the model says to them, and what that comes to. */
import type { ProviderRequest, ProviderScript } from '../../src/testing/index.ts';
import { calls, callsThenSays, json, type Program, resultsIn, usage } from './programs.ts';

const question = 'How do I stream from a graph?';

/** A look at what there is, two sub-agents side by side, a file, two looks at it, and what came of it all. */
const deepAgent: ProviderScript = (request) => {
  const [first] = request.messages;
  if (!first!.text.includes('write a summary in summary.md'))
    return resultsIn(request).length === 0
      ? calls(['ls', { path: '/' }])
      : { text: `Found: ${first!.text}`, usage };
  const task = (description: string) => ({ description, subagent_type: 'general-purpose' });
  const results = resultsIn(request);
  switch (results.length) {
    case 0:
      return calls(['ls', { path: '/' }]);
    case 1:
      return calls(['task', task('Nodes')], ['task', task('Edges')]);
    case 3:
      return calls(['write_file', { file_path: '/summary.md', content: results.slice(1).join('\n') }]);
    case 4:
      return calls(['read_file', { file_path: '/summary.md' }], ['glob', { pattern: '**/*.md' }]);
    default:
      return { text: `Done: ${results.slice(1).join('; ')}`, usage };
  }
};

const lastResult = (request: ProviderRequest) => resultsIn(request).at(-1);

export const langchainPrograms: readonly Program[] = [
  {
    name: 'react-agent',
    conversation: [['', question]],
    script: {
      'You are a helpful AI assistant': callsThenSays(
        ['tavily_search_results_json', { input: 'stream' }],
        ['tavily_search_results_json', { input: 'graph' }],
      ),
    },
    turns: 2,
    tools: 2,
    beside: 1,
  },
  {
    name: 'research-agent',
    conversation: [['', question]],
    script: {
      'Your first job is to classify': () => json({ logic: 'It is about LangChain.', type: 'langchain' }),
      'generate a plan for how': () => json({ steps: ['Read of streams', 'Read of graphs'] }),
      'search queries': ({ messages }) =>
        json({ queries: ['a', 'b', 'c'].map((each) => `${each} of ${messages.at(-1)!.text}`) }),
      'solely on the provided search results': ({ instructions }) => ({
        text: [...instructions.matchAll(/<document.*>\n(.+)\n<\/document>/g)]
          .map(([, text]) => text)
          .join('; '),
        usage,
      }),
    },
    turns: 5,
  },
  {
    name: 'supervisor',
    script: {
      'You are a team supervisor': (request) => {
        const done = resultsIn(request).filter((text) => text.includes('back'));
        if (done.length === 0) return calls(['transfer_to_research_expert', {}]);
        if (done.length === 1) return calls(['transfer_to_math_expert', {}]);
        return { text: `In all: ${request.messages.map(({ text }) => text).join(' ')}`, usage };
      },
      'You are a math expert': (request) => {
        const { toolResults } = request.messages.at(-1)!;
        const [{ name, text } = { name: '', text: '' }] = toolResults;
        if (name === 'transfer_to_math_expert') return calls(['add', { a: 67_317, b: 164_000 }]);
        if (name === 'add') return calls(['multiply', { a: Number(text), b: 2 }]);
        return { text: `That is ${lastResult(request)}.`, usage };
      },
      'You are a world class researcher': (request) =>
        lastResult(request)?.includes('headcounts')
          ? { text: `Found: ${lastResult(request)!.length} characters.`, usage }
          : calls(['web_search', { query: 'headcount' }]),
    },
    turns: 8,
    tools: 5,
    bodies: 3,
  },
  {
    name: 'pii-redaction',
    script: {
      '': (request) => {
        const [ssn] = /\[REDACTED_SSN_\w+\]/.exec(request.messages[0]!.text) ?? ['none'];
        return resultsIn(request).length === 0
          ? calls(['lookup_user', { ssn }])
          : { text: `Found ${resultsIn(request).join()} for ${ssn}`, usage };
      },
    },
    turns: 2,
    tools: 1,
    without: /(?<=REDACTED_SSN_)\w+/g,
  },
  {
    name: 'todo-list',
    script: {
      '': (request) => {
        const done = resultsIn(request).length;
        const todos = ['Read it', 'Change it'].map((content, i) => ({
          content,
          status: i < done ? 'completed' : 'pending',
        }));
        return done < 3 ? calls(['write_todos', { todos }]) : { text: 'It is done.', usage };
      },
    },
    turns: 4,
    tools: 3,
    bodies: 0,
  },
  {
    name: 'human-in-the-loop',
    script: {
      '': callsThenSays(
        ['read_file', { filename: 'input.txt' }],
        ['write_file', { filename: 'output.txt', content: 'Hello' }],
      ),
    },
    approvals: ['write_file-1'],
    turns: 2,
    tools: 2,
    beside: 1,
  },
  {
    name: 'deep-agent',
    script: { '': deepAgent },
    turns: 9,
    // Two of them are what the sub-agents came to.
    tools: 10,
    bodies: 0,
    beside: 2,
    without: /(?<=_at": ")[^"]+/g,
  },
];
