/** The worker of the README, which makes no connection of its own, in a real process with a framework that listens to signals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type DevServer, startDevServer, startScriptedProvider } from '../../src/testing/index.ts';
import { unique, until } from '../kit/temporal.ts';

// A worker without a connection of its own looks for its server here, and nowhere else.
let server: DevServer;
let connection: Connection;
beforeAll(async () => {
  server = await startDevServer({ port: 7233, environment: { ...process.env, TEMPORAL_ADDRESS: '' } });
  connection = await Connection.connect({ address: server.address });
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});

test.each(['0', '1'])(
  'SIGTERM lets the turn in flight finish and be recorded, and ends with code 0 (tracing off: %s)',
  async (tracingOff) => {
    const provider = await startScriptedProvider(() => ({ text: 'done', delayMs: 2_500 }));
    const taskQueue = unique('orderly');
    const main = fileURLToPath(new URL('../fixtures/readme-worker.ts', import.meta.url));
    const child = spawn(process.execPath, ['--conditions=@temporal-agents/source', main], {
      env: {
        ...process.env,
        TASK_QUEUE: taskQueue,
        OPENAI_BASE_URL: provider.url,
        OPENAI_API_KEY: 'none',
        OPENAI_AGENTS_DISABLE_TRACING: tracingOff,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    const ended = once(child, 'exit');
    const { workflow } = new Client({ connection });
    const handle = await workflow.start('greeter', { taskQueue, workflowId: taskQueue, args: ['hello'] });
    await until(() => provider.requests.length === 1 || child.exitCode !== null, 'the turn');
    child.kill('SIGTERM');
    const [code, signal] = (await ended) as [number | null, string | null];
    expect({ code, signal, output: code === 0 ? '' : output }).toEqual({ code: 0, signal: null, output: '' });
    const { events } = await handle.fetchHistory();
    expect(events!.filter((event) => event.activityTaskCompletedEventAttributes)).toHaveLength(1);
    expect(provider.requests[0]!.closedEarlyAt).toBeUndefined();
    await handle.terminate();
    await provider.stop();
  },
);
