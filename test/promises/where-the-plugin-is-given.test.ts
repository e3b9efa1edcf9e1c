import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { NativeConnection, Worker, type WorkerOptions, type WorkerPlugin } from '@temporalio/worker';
import { agent, step } from '../../src/index.ts';
import { AgentsPlugin } from '../../src/worker/index.ts';
import { address, client, quietRuntime, unique, workflowBundle } from '../kit/temporal.ts';
import { nativeConnection } from '../kit/workers.ts';

const echo = agent('echo', async (text: string) => text);
/** Keeps a secret, on its second attempt: that is made on the queue of the process alone. */
const keeper = agent('keeper', async () => {
  let attempts = 0;
  return await step('keep', () => {
    if (++attempts === 1) throw new Error('not yet');
    return 'a secret';
  });
});

/** What a plugin that encrypts does; here it only turns bits around. */
class Turning implements PayloadCodec, WorkerPlugin {
  readonly name = 'turning';
  readonly converter: DataConverter = { payloadCodecs: [this] };
  encode = async (payloads: Payload[]): Promise<Payload[]> => payloads.map(turn);
  decode = async (payloads: Payload[]): Promise<Payload[]> => payloads.map(turn);
  configureWorker(options: WorkerOptions): WorkerOptions {
    return { ...options, dataConverter: this.converter };
  }
}

const turn = ({ data, ...payload }: Payload): Payload => ({
  ...payload,
  ...(data && { data: data.map((byte) => ~byte) }),
});

const plugin = () => new AgentsPlugin({ agents: [echo], tools: [] });

beforeAll(quietRuntime);
afterEach(() => void jest.restoreAllMocks());

test.each([
  ['to the connection', [plugin()], []],
  ['to the worker', [], [plugin()]],
  ['to both', [plugin()], [plugin()]],
])(
  'the plugin may be given %s: the worker has one queue of its own',
  async (_where, ofConnection, ofWorker) => {
    const created = jest.spyOn(Worker, 'create');
    const connection = await NativeConnection.connect({ address: address(), plugins: ofConnection });
    const worker = await Worker.create({
      connection,
      workflowBundle,
      taskQueue: unique('echo'),
      plugins: ofWorker,
    });
    const { workflow } = await client();
    const { taskQueue } = worker.options;
    const result = worker.runUntil(
      workflow.execute(echo, { taskQueue, workflowId: unique('echo'), args: ['hello'] }),
    );
    expect(await result).toBe('hello');
    expect(created).toHaveBeenCalledTimes(2);
    await connection.close();
  },
);

test('the plugin may be given to a TestWorkflowEnvironment', async () => {
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: process.env['KIT_TEST_SERVER']! } },
    plugins: [plugin()],
  });
  const taskQueue = unique('echo');
  const worker = await Worker.create({ connection: environment.nativeConnection, workflowBundle, taskQueue });
  const { workflow } = environment.client;
  const result = worker.runUntil(
    workflow.execute(echo, { taskQueue, workflowId: taskQueue, args: ['hello'] }),
  );
  expect(await result).toBe('hello');
  await environment.teardown();
});

test.each([['before'], ['after']])(
  'a codec from a plugin %s ours holds for every payload of a run',
  async (where) => {
    const turning = new Turning();
    const ours = new AgentsPlugin({ agents: [keeper], tools: [] });
    const worker = await Worker.create({
      connection: await nativeConnection(),
      workflowBundle,
      taskQueue: unique('keeper'),
      plugins: where === 'before' ? [turning, ours] : [ours, turning],
    });
    const { connection } = await client();
    const { workflow } = new Client({ connection, dataConverter: turning.converter });
    const { taskQueue } = worker.options;
    const handle = await workflow.start(keeper, {
      taskQueue,
      workflowId: unique('keeper'),
    });
    expect(await worker.runUntil(handle.result())).toBe('a secret');
    const history = temporal.api.history.v1.History.fromObject(await handle.fetchHistory()).toJSON();
    expect(JSON.stringify(history)).not.toContain(Buffer.from('"a secret"').toString('base64'));
  },
);
