import { type ChildProcess, execFile, fork } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ScriptedProvider, startScriptedProvider } from '../../src/testing/index.ts';
import { type BuiltPackage, buildPackage } from '../kit/built-package.ts';
import { address, until } from '../kit/temporal.ts';

const run = promisify(execFile);
const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const documents = [
  'README.md',
  'docs/blobs.md',
  'docs/budgets.md',
  'docs/going-back.md',
  'docs/memory.md',
  'docs/own-workflows.md',
  'docs/people.md',
  'docs/report.md',
  'docs/migrate-from-temporal-openai-agents.md',
  'adapters/deepagents/README.md',
  'adapters/langchain/README.md',
  'adapters/openai-agents/README.md',
];

let built: BuiltPackage;
let provider: ScriptedProvider;
let worker: ChildProcess | undefined;

beforeAll(async () => {
  built = await buildPackage('readme');
  provider = await startScriptedProvider(({ messages }) => {
    const result = messages.at(-1)!.toolResults[0];
    if (result) return { text: `Done: ${result.text}` };
    return { toolCalls: [{ name: 'issue_refund', arguments: { accountId: 'acct-17', amountUsd: 30 } }] };
  });
});
afterAll(async () => {
  worker?.kill('SIGKILL');
  await provider.stop();
  built.remove();
});

/** Code of a document, by the name in its first line or its number; fragments that import nothing are left out. */
function codeOf(document: string): [name: string, code: string][] {
  const text = readFileSync(new URL(`../../${document}`, import.meta.url), 'utf8');
  return [...text.matchAll(/```ts\n([^]*?)```/g)]
    .map(([, code], i): [string, string] => [/^\/\/ (\S+\.ts)\n/.exec(code!)?.[1] ?? `block-${i}.ts`, code!])
    .filter(([, code]) => /^(import|export) /m.test(code));
}

/** Writes the code of a document into a folder of its own, with the agents of the README, which it may import. */
function write(document: string): string {
  const folder = join(built.folder, document.replaceAll(/[/.]/g, '-'));
  mkdirSync(folder, { recursive: true });
  const agents = codeOf('README.md').filter(([name]) => name === 'agents.ts');
  for (const [name, code] of [...agents, ...codeOf(document)]) writeFileSync(join(folder, name), code);
  return folder;
}

test.each(documents)('the code in %s is accepted by the compiler', async (document) => {
  const folder = write(document);
  const triage = `import type { Agent } from '@openai/agents';\nexport declare const triage: Agent;\n`;
  writeFileSync(join(folder, 'my-agents.ts'), triage);
  const graphs = `import { createAgent } from 'langchain';\nexport declare const triage: ReturnType<typeof createAgent>;\n`;
  writeFileSync(join(folder, 'my-graphs.ts'), graphs);
  const deep = `import { createDeepAgent } from 'deepagents';\nexport declare const researcher: ReturnType<typeof createDeepAgent>;\n`;
  writeFileSync(join(folder, 'my-deep-agents.ts'), deep);
  const shop = `export declare const currentTenant: () => string;\nexport declare const listPrices: (item: string) => Promise<number[]>;\n`;
  writeFileSync(join(folder, 'shop.ts'), shop);
  const config = {
    extends: '../../../tsconfig.json',
    compilerOptions: { customConditions: [] },
    include: ['*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});

test('the quick start runs as it is pasted, but for the address of the server', async () => {
  const folder = write('README.md');
  const change = (name: string, from: string, to: string) => {
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text).toContain(from);
    writeFileSync(join(folder, name), text.replace(from, to));
  };
  const server = `{ address: ${JSON.stringify(address())} }`;
  change('worker.ts', 'import { Worker }', 'import { NativeConnection, Worker }');
  change(
    'worker.ts',
    'Worker.create({',
    `Worker.create({ connection: await NativeConnection.connect(${server}),`,
  );
  for (const name of ['start.ts', 'approve.ts'])
    change(name, 'Connection.connect()', `Connection.connect(${server})`);
  const env = { ...process.env, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: provider.url };
  const node = async (name: string) =>
    (await run(process.execPath, [join(folder, name)], { env, timeout: 60_000 })).stdout;
  worker = fork(join(folder, 'worker.ts'), { env, stdio: 'ignore', execArgv: [] });
  const answer = node('start.ts');
  // Until the run is there, and has asked.
  const approved = await until(async () => {
    const said = await node('approve.ts').catch(() => '');
    return said.startsWith('Approved') && said;
  }, 'an approval');
  expect(approved).toBe('Approved issue_refund-1: Refund $30 to acct-17?\n');
  expect(await answer).toMatch(/^Done: Refunded \$30 to acct-17, under the key [0-9a-f-]{36}:\S+\.\n$/);
});
