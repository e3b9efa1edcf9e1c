/** The life of a worker process: says when it polls, tells its memory when asked, and dies with the benchmark. */
import { env, memoryUsage, pid } from 'node:process';

/** What the benchmark tells a worker process, in environment variables. */
export const given = {
  address: env['BENCH_ADDRESS']!,
  taskQueue: env['BENCH_TASK_QUEUE']!,
  modelUrl: env['BENCH_MODEL_URL']!,
  /** Settings of the worker on top of its own. */
  worker: JSON.parse(env['BENCH_WORKER'] ?? '{}') as Record<string, unknown>,
  /** File of a workflow bundle that was built ahead, or undefined. */
  bundle: env['BENCH_BUNDLE'],
};

/** What a worker process says to the benchmark. */
export type Said = { readyAfterMs: number } | { rss: number };

function say(said: Said): void {
  process.send!(said);
}

/** Makes a worker, of whichever version of the SDK, and runs it until it is shut down. */
export async function serve(create: () => Promise<{ run: () => Promise<void> }>): Promise<void> {
  process.on('message', () => {
    globalThis.gc?.();
    say({ rss: memoryUsage.rss() });
  });
  process.on('disconnect', () => process.kill(pid, 'SIGKILL'));
  const began = performance.now();
  const worker = await create();
  const run = worker.run();
  say({ readyAfterMs: performance.now() - began });
  await run;
  process.exit(0);
}
