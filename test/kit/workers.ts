/** Workers of tests: in this process, or in one of their own that can be killed. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { AgentsPlugin, type AgentsPluginOptions } from '../../src/worker/index.ts';
import { address, quietRuntime, workflowBundle } from './temporal.ts';

/** Settings that notice a dead process in seconds, for tests. */
export const QUICK_PLUGIN: AgentsPluginOptions = { heartbeatTimeout: '2s', watchFor: 1_000 };
export const QUICK_WORKER: Partial<WorkerOptions> = {
  stickyQueueScheduleToStartTimeout: '1s',
  maxHeartbeatThrottleInterval: '500ms',
  shutdownGraceTime: '5s',
};
/** Start options that go with them: a task that died with its worker is tried again soon. */
export const QUICK_START = { workflowTaskTimeout: '2s' } as const;

let connection: Promise<NativeConnection> | undefined;

export async function nativeConnection(): Promise<NativeConnection> {
  quietRuntime();
  connection ??= NativeConnection.connect({ address: address() });
  return await connection;
}

/** Lets the test file's process end. */
export async function closeConnection(): Promise<void> {
  await (await connection)?.close();
}

export interface LocalWorker {
  worker: Worker;
  stop(): Promise<void>;
}

/** A worker in this process. */
export async function startWorker(options: {
  taskQueue: string;
  plugin: AgentsPluginOptions;
  worker?: Partial<WorkerOptions>;
}): Promise<LocalWorker> {
  const worker = await Worker.create({
    connection: await nativeConnection(),
    workflowBundle,
    ...QUICK_WORKER,
    ...options.worker,
    taskQueue: options.taskQueue,
    plugins: [new AgentsPlugin({ ...QUICK_PLUGIN, ...options.plugin })],
  });
  const run = worker.run();
  return {
    worker,
    stop: async () => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await run;
    },
  };
}

/** When a worker process kills itself, by SIGKILL, once: at the n-th step, before or after its answer is recorded. */
export interface KillAt {
  step: number;
  when: 'before' | 'after';
}

export interface WorkerProcessOptions {
  taskQueue: string;
  /** Module whose exports are agents and tools, as a URL. */
  module: string;
  plugin?: AgentsPluginOptions;
  worker?: Partial<WorkerOptions>;
  /** Serve only tools: no agents, no workflows. */
  toolsOnly?: boolean;
  kill?: KillAt;
  /** The end of a run is not told to it before there is a file of this path; the process notes `end held`. */
  holdEnd?: string;
  /** URL of a module that the process loads before all others. */
  preload?: string;
  /** `KIT_BLOBS`: the folder of its blobs. `KIT_DATA_CONVERTER`: URL of a module with a `dataConverter`. */
  env?: Record<string, string>;
}

export interface WorkerProcess {
  pid: number;
  process: ChildProcess;
  /** Settles when the process has ended, by whatever. */
  ended: Promise<{ code: number | null; signal: string | null }>;
  kill(signal?: NodeJS.Signals): Promise<void>;
  pause(): void;
  resume(): void;
  /** What it wrote. */
  output(): string;
}

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** A worker in a process of its own; resolves when it polls. */
export async function spawnWorker(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const main = fileURLToPath(new URL('./worker-main.ts', import.meta.url));
  const child = fork(main, {
    execArgv: [
      '--conditions=@temporal-agents/source',
      '--disable-warning=ExperimentalWarning',
      ...(options.preload === undefined ? [] : [`--import=${options.preload}`]),
    ],
    env: {
      ...process.env,
      // Hundreds of such processes are started, each of the same files.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../../.cache/compiled', import.meta.url)),
      ...options.env,
      KIT_WORKER: JSON.stringify({ ...options, env: undefined }),
      KIT_BUNDLE: workflowBundle.codePath,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  living.add(child);
  let output = '';
  child.stdout!.on('data', (data) => (output += data));
  child.stderr!.on('data', (data) => (output += data));
  const ended = once(child, 'exit').then(([code, signal]) => {
    living.delete(child);
    return { code, signal };
  });
  await Promise.race([
    once(child, 'message'),
    ended.then(({ code, signal }) => {
      throw new Error(`The worker process ended (${code ?? signal}) before it polled:\n${output}`);
    }),
  ]);
  return {
    pid: child.pid!,
    process: child,
    ended,
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal);
      await ended;
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    output: () => output,
  };
}
