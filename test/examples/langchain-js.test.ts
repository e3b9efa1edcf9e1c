/** Published agents of LangGraph, LangChain and Deep Agents run inside agents, killed at some of their steps. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describePrograms } from './killed-programs.ts';
import { langchainPrograms } from './langchain-programs.ts';

/** The web, as far as the programs look things up in it. */
let web: Server;
beforeAll(async () => {
  web = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, 'http://web');
    response.end(JSON.stringify([`Page on ${searchParams.get('query')}`]));
  });
  await new Promise<void>((resolve) => void web.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  web.closeAllConnections();
  web.close();
});

const folder = new URL('./langchain-js/', import.meta.url);

/** A file as it was before it was changed. */
function published(path: string): string {
  return readFileSync(new URL(path, folder), 'utf8')
    .replaceAll(/^\/\/ From here: [^]*?^\/\/ To here\.\n+/gm, '')
    .replaceAll(/^.* \/\/ Added\.\n/gm, '')
    .replaceAll(/^( *).* \/\/ Changed from: (.*)$/gm, '$1$2');
}

const templates = readdirSync(new URL('templates/', folder), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `templates/${path}`);

test.each(templates)('%s is what its authors published, but for what is marked', (path) => {
  const source = published(path);
  const blob = createHash('sha1')
    .update(`blob ${Buffer.byteLength(source)}\0${source}`)
    .digest('hex');
  expect(readFileSync(new URL('README.md', folder), 'utf8')).toContain(`| \`${path}\` | \`${blob}\` |`);
});

const middleware = 'langchain/dist/agents/middleware';
test.each([
  ['supervisor/quickstart.ts', '@langchain/langgraph-supervisor/README.md'],
  ['langchain/pii-redaction.ts', `${middleware}/piiRedaction.d.ts`],
  ['langchain/todo-list.ts', `${middleware}/todoListMiddleware.d.ts`],
  ['langchain/human-in-the-loop.ts', `${middleware}/hitl.d.ts`],
  ['deepagents/quickstart.ts', 'deepagents/README.md'],
])('%s is what its authors published, but for what is marked', (path, source) => {
  const modules = new URL('../../node_modules/', import.meta.url);
  const text = readFileSync(new URL(source, modules), 'utf8').replaceAll(/^ \* ?/gm, '');
  const examples = [...text.matchAll(/```(?:ts|typescript)\n([^]*?)```/g)].map(([, code]) => code!.trimEnd());
  const rest = examples.reduce((left, example) => left.replace(example, ''), published(path));
  expect(rest.trim()).toBe('');
});

const at = (name: string) => new URL(name, import.meta.url).href;

describePrograms(langchainPrograms, {
  agents: at('./langchain-agents.ts'),
  plainly: ({ name, conversation = [] }) => [
    '--conditions=@temporal-agents/source',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=DURABILITY_OFF',
    `--import=${at('./load-programs.ts')}`,
    fileURLToPath(at('./langchain-plainly.ts')),
    name,
    ...conversation.map(([, answer]) => answer),
  ],
  env: () => {
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const login = { ELASTICSEARCH_USER: 'none', ELASTICSEARCH_PASSWORD: 'none' };
    return { TAVILY_URL: url, ELASTICSEARCH_URL: url, ...login };
  },
  kills: (steps) => [steps[Math.floor(steps.length / 2)]!],
});
