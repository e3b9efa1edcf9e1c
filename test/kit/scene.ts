/** A task queue of its own, a provider whose prompts may say `wait 500`, workers and a log of effects: one test's scene. */
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import {
  type ProviderScript,
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/testing/index.ts';
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
  /** A worker that serves only the tools whose queue is `TOOLS_QUEUE`. */
  spawnTools(): Promise<WorkerProcess>;
  start(agent: string, input?: unknown, workflowId?: string): Promise<WorkflowHandleWithFirstExecutionRunId>;
  /** How often the provider was asked something that holds this text. */
  asked(text: string): number;
  tally(): Record<string, number>;
  effects(): ReturnType<typeof effects>;
}

export interface SceneOptions extends Pick<WorkerProcessOptions, 'plugin' | 'worker' | 'env'> {
  /** What the provider says. @default the last message, after the milliseconds that it names */
  script?: ProviderScript;
  /** @default 'default' */
  namespace?: string;
}

/** @param fixture name of a module in `test/fixtures` */
export async function scene(
  fixture: string,
  { script = echo, namespace = 'default', plugin, worker, env }: SceneOptions = {},
): Promise<Scene> {
  const taskQueue = unique(fixture);
  const toolsQueue = `${taskQueue}-tools`;
  const log = newEffects();
  const provider = await startScriptedProvider(script);
  const spawned: WorkerProcess[] = [];
  const spawn = async (options: Partial<WorkerProcessOptions> = {}) => {
    const process = await spawnWorker({
      taskQueue,
      module: new URL(`../fixtures/${fixture}.ts`, import.meta.url).href,
      plugin: { ...QUICK_PLUGIN, ...plugin },
      worker: { ...QUICK_WORKER, namespace, ...worker },
      ...options,
      env: { EFFECTS: log, PROVIDER_URL: provider.url, TOOLS_QUEUE: toolsQueue, ...env, ...options.env },
    });
    spawned.push(process);
    return process;
  };
  return {
    taskQueue,
    provider,
    log,
    spawn,
    spawnTools: async () => await spawn({ taskQueue: toolsQueue, toolsOnly: true }),
    start: async (agent, input, workflowId = unique(agent)) =>
      await (
        await client(namespace)
      ).workflow.start(agent, { taskQueue, workflowId, args: [input], ...QUICK_START }),
    asked: (text) => provider.requests.filter(({ body }) => JSON.stringify(body).includes(text)).length,
    tally: () => tally(log),
    effects: () => effects(log),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(spawned.map(async (process) => await process.kill()));
      await provider.stop();
    },
  };
}

const echo: ProviderScript = ({ messages }) => {
  const { text } = messages.at(-1)!;
  return { text: text.replace(/ wait \d+$/, ''), delayMs: Number(/ wait (\d+)$/.exec(text)?.[1] ?? 0) };
};
