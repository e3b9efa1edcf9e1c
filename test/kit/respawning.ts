import { spawnWorker, type WorkerProcess, type WorkerProcessOptions } from './workers.ts';

/** A worker process that is started again whenever it ends, as whatever runs containers would. */
export interface RespawningWorker {
  /** Processes so far. */
  readonly pids: number[];
  /** Kills the present process; the next one takes its place. Resolves with it. */
  kill(signal?: NodeJS.Signals): Promise<WorkerProcess>;
  stop(): Promise<void>;
}

export async function spawnRespawning(options: WorkerProcessOptions): Promise<RespawningWorker> {
  const pids: number[] = [];
  let stopped = false;
  let present: Promise<WorkerProcess>;
  const start = async (): Promise<WorkerProcess> => {
    const worker = await spawnWorker(options);
    pids.push(worker.pid);
    void worker.ended.then(() => {
      if (!stopped) present = start();
    });
    return worker;
  };
  present = start();
  await present;
  return {
    pids,
    kill: async (signal) => {
      await (await present).kill(signal);
      await new Promise((resolve) => setImmediate(resolve));
      return await present;
    },
    stop: async () => {
      stopped = true;
      await (await present).kill();
    },
  };
}
