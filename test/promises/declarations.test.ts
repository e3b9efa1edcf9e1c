import { describe, expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { z } from 'zod';
import { agent, DeclarationError, tool } from '../../src/index.ts';
import { AgentsPlugin } from '../../src/worker/index.ts';
import * as agents from '../fixtures/error-agents.ts';
import { client, unique, workflowBundle } from '../kit/temporal.ts';
import { nativeConnection, startWorker } from '../kit/workers.ts';

describe('a worker is not made', () => {
  const echo = (name: string) =>
    tool({ name, description: 'Echoes.', parameters: z.object({}), execute: () => 'echo' });
  const [one, another] = [agent('same', async () => 1), agent('same', async () => 2)];
  const create = async (plugin: ConstructorParameters<typeof AgentsPlugin>[0], activities = {}) =>
    await Worker.create({
      connection: await nativeConnection(),
      workflowBundle,
      taskQueue: unique('declared'),
      activities,
      plugins: [new AgentsPlugin(plugin)],
    });

  test.each([
    [
      'two agents of one name',
      async () => await create({ tools: [], agents: [one, another] }),
      'two agents named "same"',
    ],
    [
      'two tools of one name',
      async () => await create({ tools: [echo('twin'), echo('twin')] }),
      'two tools named "twin"',
    ],
    [
      "an activity that has a tool's name",
      async () => await create({ tools: [echo('lookup')] }, { lookup: async () => 'own' }),
      'tool "lookup": the worker has an activity of that name',
    ],
    [
      'an option that does not exist',
      async () => await create({ tools: [], agents: [one], agentMissingTimout: '1s' } as object),
      'no option "agentMissingTimout"',
    ],
  ])('for %s', async (_, make, says) => {
    const error: unknown = await make().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeclarationError);
    expect((error as Error).message).toContain(says);
  });

  test('but it is for a tool that has the name of a property of every object', async () => {
    const worker = await create(
      { agents: [one], tools: [echo('toString'), echo('constructor')] },
      { own: async () => 1 },
    );
    const { activities } = worker.options;
    expect([...(activities as ReadonlyMap<string, unknown>).keys()]).toEqual(
      expect.arrayContaining(['toString', 'constructor', 'own']),
    );
    await worker.runUntil(async () => {});
  });
});

describe('a worker that is stopped as soon as it runs', () => {
  const create = async () =>
    await Worker.create({
      connection: await nativeConnection(),
      workflowBundle,
      taskQueue: unique('stopped'),
      plugins: [new AgentsPlugin({ tools: [], agents: [agents.strict] })],
    });

  test('stops', async () => {
    const worker = await create();
    const run = worker.run();
    expect(worker.getState()).toBe('RUNNING');
    worker.shutdown();
    await run;
    expect(worker.getState()).toBe('STOPPED');
  });

  test('gives what it ran until', async () => {
    const worker = await create();
    expect(await worker.runUntil(async () => 'done')).toBe('done');
  });
});

test.each(['approve', 'records', 'waiting', 'agentRun', 'default'])(
  'an agent may be called %s',
  async (name) => {
    const taskQueue = unique('names');
    const worker = await startWorker({
      taskQueue,
      plugin: { tools: [], agents: [agent(name, async (n: number) => n + 1)] },
    });
    const { workflow } = await client();
    expect(
      await workflow.execute(name, {
        taskQueue,
        workflowId: taskQueue,
        args: [1],
        workflowRunTimeout: '10s',
      }),
    ).toBe(2);
    await worker.stop();
  },
);
