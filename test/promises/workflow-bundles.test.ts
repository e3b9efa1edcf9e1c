import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { agent } from '../../src/index.ts';
import { AgentsPlugin } from '../../src/worker/index.ts';
import { type BuiltPackage, buildPackage } from '../kit/built-package.ts';
import { client, unique } from '../kit/temporal.ts';
import { nativeConnection } from '../kit/workers.ts';

let built: BuiltPackage;
const fixture = (name: string) => join(built.folder, 'bundles', name);
const support = agent('support', async (question: string) => question.toUpperCase());

beforeAll(async () => {
  built = await buildPackage('bundles');
  // In the folder of the package as it is shipped, so that they import it as a user's code does.
  cpSync(fileURLToPath(new URL('../fixtures/bundles', import.meta.url)), fixture(''), { recursive: true });
});
afterAll(() => built.remove());

const createWorker = async (workflowsPath: string) =>
  await Worker.create({
    connection: await nativeConnection(),
    taskQueue: unique('bundles'),
    workflowsPath,
    plugins: [new AgentsPlugin({ agents: [support], tools: [] })],
  });

describe("workflow code that imports an agent's module is refused, with what to do", () => {
  const files = ['imports-an-agent.ts', 'imports-the-package.ts'];
  const refusal =
    /Cannot bundle \S*\/bundles as workflow code: it imports "temporal-agents", and agents run outside the workflow sandbox\. Name the agent by string with its type: .* Signals and queries are in "temporal-agents\/workflows"\./;

  test.each(files)('by a worker: %s', async (file) => {
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    await expect(createWorker(fixture(file))).rejects.toThrow('Webpack finished with errors');
    const written = stderr.mock.calls.join('');
    stderr.mockRestore();
    expect(written).toMatch(refusal);
    expect(written).toContain(file);
  });

  test.each(files)('by a bundler that has the plugin: %s', async (file) => {
    const errors: string[] = [];
    const logger = new DefaultLogger('ERROR', ({ message }) => errors.push(message));
    const bundle = bundleWorkflowCode({
      workflowsPath: fixture(file),
      logger,
      plugins: [new AgentsPlugin()],
    });
    await expect(bundle).rejects.toThrow('Webpack finished with errors');
    expect(errors.join('')).toMatch(refusal);
    expect(errors.join('')).toContain(file);
  });
});

test('our default beside own workflows runs every agent that the bundle does not have', async () => {
  const worker = await createWorker(fixture('beside-own-workflows.ts'));
  const { workflow } = await client();
  const { taskQueue } = worker.options;
  await worker.runUntil(async () => {
    const start = { taskQueue, args: ['where is it?'] };
    expect(await workflow.execute('support', { ...start, workflowId: unique('support') })).toBe(
      'WHERE IS IT?',
    );
    expect(await workflow.execute('desk', { ...start, workflowId: unique('desk') })).toBe(
      'The desk says: WHERE IS IT?',
    );
  });
});

test('a bundle with a default of its own runs an agent under its name', async () => {
  const worker = await createWorker(fixture('beside-own-default.ts'));
  const { workflow } = await client();
  const { taskQueue } = worker.options;
  await worker.runUntil(async () => {
    const start = { taskQueue, args: ['where?'] };
    expect(await workflow.execute('support', { ...start, workflowId: unique('support') })).toBe('WHERE?');
    expect(await workflow.execute('other', { ...start, workflowId: unique('other') })).toBe('no other here');
  });
});
