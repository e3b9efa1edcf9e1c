import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { NativeConnection, Worker, WorkerOptions } from '@temporalio/worker';
import type { AgentsPluginOptions } from '../worker/agents-plugin.ts';

/** The server of a test: a `TestWorkflowEnvironment`, ours or yours, or anything with a connection for workers. */
export interface TestServerConnection {
  nativeConnection: NativeConnection;
  namespace?: string;
}

/** What the worker serves and how: the plugin's own options, and the worker's. */
export interface TestWorkerOptions extends AgentsPluginOptions {
  /** Where the test starts its runs. */
  taskQueue: string;
  /**
   * More for `Worker.create`, such as `activities` or `workflowsPath`. A test that stops a worker and starts another needs
   * `maxCachedWorkflows: 0`: a server that skips time leaves a run to the worker that has it cached, though that is gone.
   */
  worker?: Partial<WorkerOptions>;
}

/**
 * A worker for a test: `Worker.create` with `AgentsPlugin`, blobs in a new folder of the system's own for what is temporary,
 * and the time that a long wait costs in a server that skips time down from 5 s to 0.2 s. Run it with `worker.runUntil(async () => …)`.
 */
export async function createTestWorker(
  server: TestServerConnection,
  options: TestWorkerOptions,
): Promise<Worker> {
  const { taskQueue, worker, ...plugin } = options;
  const [{ Worker }, { AgentsPlugin }] = await Promise.all([
    import('@temporalio/worker'),
    import('../worker/agents-plugin.ts'),
  ]);
  return await Worker.create({
    connection: server.nativeConnection,
    ...(server.namespace !== undefined && { namespace: server.namespace }),
    ...worker,
    taskQueue,
    plugins: [...(worker?.plugins ?? []), new AgentsPlugin({ watchFor: 200, blobs: testBlobs(), ...plugin })],
  });
}

/** One folder a process, so that what one worker of a test keeps the next can read. */
let folder: URL | undefined;

function testBlobs(): URL {
  folder ??= pathToFileURL(mkdtempSync(join(tmpdir(), 'temporal-agents-')));
  return folder;
}
