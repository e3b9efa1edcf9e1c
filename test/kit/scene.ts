/** A task queue of its own, a provider whose prompts may say `wait 500`, workers and a log of effects: one test's scene. */
import { startScriptedProvider, type ScriptedProvider } from '../../src/testing/index.ts';
import { effects, newEffects, tally } from './effects.ts';
import { client, unique } from './temporal.ts';
import {
  QUICK_PLUGIN,
  QUICK_START,
  QUICK_WORKER,
  spawnWorker,
  type WorkerProcess,
  type WorkerProcessOptions,
} from './workers.ts';

export interface Scene extends AsyncDisposable {
  taskQueue: string;
  provider: ScriptedProvider;
  /** Path of the log of effects. */
  log: string;
  spawn(options?: Partial<WorkerProcessOptions>): Promise<WorkerProcess>;
  start(
    agent: string,
    input: unknown,
    workflowId?: string,
  ): Promise<Awaited<ReturnType<Awaited<ReturnType<typeof client>>['workflow']['start']>>>;
  /** How often the provider was asked something that holds this text. */
  asked(text: string): number;
  tally(): Record<string, number>;
  effects(): ReturnType<typeof effects>;
}

/** @param fixture name of a module in `test/fixtures` */
export async function scene(fixture: string): Promise<Scene> {
  const taskQueue = unique(fixture);
  const log = newEffects();
  const provider = await startScriptedProvider(({ messages }) => {
    const { text } = messages.at(-1)!;
    return { text: text.replace(/ wait \d+$/, ''), delayMs: Number(/ wait (\d+)$/.exec(text)?.[1] ?? 0) };
  });
  const spawned: WorkerProcess[] = [];
  return {
    taskQueue,
    provider,
    log,
    spawn: async (options = {}) => {
      const worker = await spawnWorker({
        taskQueue,
        module: new URL(`../fixtures/${fixture}.ts`, import.meta.url).href,
        plugin: QUICK_PLUGIN,
        worker: QUICK_WORKER,
        ...options,
        env: { EFFECTS: log, PROVIDER_URL: provider.url, ...options.env },
      });
      spawned.push(worker);
      return worker;
    },
    start: async (agent, input, workflowId = unique(agent)) =>
      await (await client()).workflow.start(agent, { taskQueue, workflowId, args: [input], ...QUICK_START }),
    asked: (text) => provider.requests.filter(({ body }) => JSON.stringify(body).includes(text)).length,
    tally: () => tally(log),
    effects: () => effects(log),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(spawned.map(async (worker) => await worker.kill()));
      await provider.stop();
    },
  };
}
