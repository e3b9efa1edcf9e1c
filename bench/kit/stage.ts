/** Where a measure takes place: a server of its own, a client, the model, and the workers it asks for. */
import { env } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { startDevServer } from 'temporal-agents/testing';
import { bundles } from './bundles.ts';
import { forkScript, type Forked } from './processes.ts';
import type { Said } from './serve.ts';
import { type Party, type Subject, workerScripts } from './subjects.ts';
import type { Task } from './task.ts';

/** A worker process. */
interface WorkerProcess {
  pid: number;
  /** How long it took to make the worker, in milliseconds. */
  readyAfterMs: number;
  /** Rejects when it ends before it was asked to. */
  died: Promise<never>;
  /** Its resident memory now in bytes, after a garbage collection of its main thread. */
  memory: () => Promise<number>;
  end: (signal?: NodeJS.Signals) => Promise<void>;
}

/** A started run. */
export type Run = WorkflowHandleWithFirstExecutionRunId;

export interface Stage {
  client: Client;
  /** Starts a worker process on the party's task queue; resolves when it polls. */
  startWorker: (party: Party, options?: WorkerOptions) => Promise<WorkerProcess>;
  startRun: (subject: Subject, task: Task) => Promise<Run>;
  /** How many requests the model has had. */
  modelRequests: () => Promise<number>;
}

export interface WorkerOptions {
  /** Settings of the SDK's worker. */
  worker?: Record<string, unknown>;
  /** Have the worker build its workflow bundle itself. */
  withoutBundle?: boolean;
}

/** The server's own limit of 20 transfer tasks a second, in place of the 2,000 that our dev servers have. */
export const UNTUNED = { 'history.transferProcessorMaxPollRPS': 20 };

/** Sets the stage, has a measure act on it, and clears it. */
export async function onStage<T>(
  act: (stage: Stage) => Promise<T>,
  dynamicConfig: Record<string, number> = {},
): Promise<T> {
  // A server that somebody else runs is neither idle nor set as we say.
  const { TEMPORAL_ADDRESS: _, ...environment } = env;
  const server = await startDevServer({ dynamicConfig, environment });
  const model = await forkScript<string>(new URL('./model-main.ts', import.meta.url));
  const connection = await Connection.connect({
    address: server.address,
    channelArgs: { 'grpc.max_receive_message_length': 64 * 1024 * 1024 },
  });
  const client = new Client({ connection });
  const workers = new Set<Forked<Said>>();
  let runs = 0;

  const startWorker = async (party: Party, { worker = {}, withoutBundle }: WorkerOptions = {}) => {
    const bundle = withoutBundle ? undefined : bundles[party];
    const forked = await forkScript<Said & { readyAfterMs: number }>(workerScripts[party], {
      BENCH_ADDRESS: server.address,
      BENCH_TASK_QUEUE: party,
      BENCH_MODEL_URL: model.first,
      BENCH_WORKER: JSON.stringify(worker),
      ...(bundle !== undefined && { BENCH_BUNDLE: bundle }),
    });
    workers.add(forked);
    return {
      pid: forked.pid,
      readyAfterMs: forked.first.readyAfterMs,
      died: forked.died,
      memory: async () => (await forked.ask<{ rss: number }>()).rss,
      end: async (signal?: NodeJS.Signals) => {
        workers.delete(forked);
        await forked.end(signal);
      },
    };
  };
  const startRun = async ({ type, party }: Subject, task: Task) =>
    await client.workflow.start(type, {
      taskQueue: party,
      workflowId: `${party}-${type}-${++runs}`,
      args: [task],
    });
  try {
    return await act({ client, startWorker, startRun, modelRequests: async () => await model.ask<number>() });
  } finally {
    await Promise.all([...workers].map(async ({ end }) => await end()));
    await model.end();
    // The connection stays: what is asked again of a closed one throws. All end with this process.
    await server.stop();
  }
}

/** Waits until something is there; asks for it again and again. */
export async function until<T>(
  look: () => Promise<T | undefined | false>,
  what: string,
  timeoutMs = 120_000,
  everyMs = 50,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`Cannot go on: ${what} did not come within ${timeoutMs} ms.`);
    await delay(everyMs);
  }
}
