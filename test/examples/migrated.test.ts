/** The sample of the migration guide: it runs as it stands, its worker is killed, and the guide's numbers are counted. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records } from '../../src/index.ts';
import { type ScriptedProvider, startScriptedProvider } from '../../src/testing/index.ts';
import { type BuiltPackage, buildPackage } from '../kit/built-package.ts';
import { address, assertReplays, chainOf, client, repeatedSteps } from '../kit/temporal.ts';

const folder = new URL('./migrated/', import.meta.url);
const files = (...names: string[]) =>
  names.map((name) => readFileSync(new URL(`human-approval/${name}.ts`, folder), 'utf8'));

let built: BuiltPackage;
let provider: ScriptedProvider;
const workers: ChildProcess[] = [];

beforeAll(async () => {
  built = await buildPackage('migrated');
  // What the sample's own test has its model say; its second answer keeps us waiting once.
  provider = await startScriptedProvider(({ messages, attempt }) => {
    if (messages.length === 1)
      return { toolCalls: [{ name: 'dangerousAction', arguments: { reason: 'demo' } }] };
    return attempt === 1 ? { hang: true } : { text: 'Action completed successfully.' };
  });
});
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await provider.stop();
  built.remove();
});

test('the migrated sample goes on when its worker is killed, and nothing answered or done is repeated', async () => {
  const names = ['worker', 'client'].map((name) => `test/examples/migrated/human-approval/${name}.ts`);
  const compiled = join(await built.compile(...names), 'test/examples/migrated/human-approval');
  const env = {
    ...process.env,
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: provider.url,
    TEMPORAL_ADDRESS: address(),
  };
  const startWorker = () => {
    const worker = fork(join(compiled, 'worker.js'), { env, stdio: 'ignore', execArgv: [] });
    workers.push(worker);
    return worker;
  };
  const first = startWorker();
  const said = promisify(execFile)(process.execPath, [join(compiled, 'client.js')], { env });
  // The action was approved and done, and the model is told so.
  const told = await provider.waitFor(({ body }) => JSON.stringify(body).includes('did: demo'));
  first.kill('SIGKILL');
  startWorker();
  const { stdout } = await said;
  const [, workflowId, ...rest] = /^Running scenario: human-approval\nStarted workflow (\S+)\n([^]*)/.exec(
    stdout,
  )!;
  expect(rest).toEqual(['Sending approval signal...\nAction completed successfully.\n']);
  const handle = (await client()).workflow.getHandle(workflowId!);
  const done = await handle.query(records);
  expect(done.map(({ kind, name }) => [kind, name])).toEqual([
    ['turn', expect.any(String)],
    ['approval', 'dangerousAction'],
    ['tool', 'dangerousAction'],
    ['turn', expect.any(String)],
  ]);
  const asked = provider.requests.map(({ key }) => key);
  expect(asked).toEqual([asked[0], told.key, told.key]);
  const histories = await chainOf(handle);
  expect(repeatedSteps(histories)).toEqual([]);
  await assertReplays(histories);
});

/** Lines that are neither empty nor only comment. */
function linesOfCode(sources: string[]): number {
  return sources
    .map((source) => source.replaceAll(/\/\*[^]*?\*\//g, '').split('\n'))
    .flatMap((lines) => lines.filter((line) => !/^\s*(\/\/|$)/.test(line))).length;
}

test('the guide says how many lines the migrated sample has', () => {
  const guide = readFileSync(
    new URL('../../docs/migrate-from-temporal-openai-agents.md', import.meta.url),
    'utf8',
  );
  const rows = [...guide.matchAll(/^\| (the agent|the worker|the client|all) \|.* \d+ \|.* (\d+) \|$/gm)];
  const counts = [
    ['the agent', files('agents')],
    ['the worker', files('worker')],
    ['the client', files('client')],
    ['all', files('agents', 'worker', 'client')],
  ] as const;
  expect(rows.map(([, part, after]) => [part, Number(after)])).toEqual(
    counts.map(([part, after]) => [part, linesOfCode(after)]),
  );
});
