/** Where the contract's agents run: their provider, their workers, and what became of a run whose worker was killed. */
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { records, type StepRecord } from '../../src/index.ts';
import {
  type ProviderScript,
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/testing/index.ts';
import { newEffects, tally } from '../kit/effects.ts';
import { chainOf, client, unique } from '../kit/temporal.ts';
import {
  type KillAt,
  QUICK_PLUGIN,
  QUICK_START,
  QUICK_WORKER,
  spawnWorker,
  type WorkerProcess,
} from '../kit/workers.ts';
import { contractScript } from './contract-script.ts';

export interface AdapterFixture {
  /** The framework's name. */
  name: string;
  /** URL of a module with the agents `steps`, `toolError`, `flaky`, `refused`, `hanging`, `approvals`, `hears` and
   * `changing`. */
  module: string;
  /** URL of a module that worker processes load first. */
  preload?: string;
  /** Recorded steps of an undisturbed run of `steps`. */
  steps: number;
  /** Which of them have neither a turn nor a body that leaves a trace, so that nobody sees that they are done twice. */
  silent?: readonly number[];
  /** Killed at few steps only, but for the soak: much like another that is killed at more. */
  killFew?: boolean;
  /** What not every framework has, and the module then has an agent for. */
  extras?: {
    /**
     * A conversation that outlives a run, by the case's name: `remembers` says to the model what it is given, and looks
     * something up. It is kept in a file in the folder `MEMORY`, or in the worker's memory. How many steps that takes.
     */
    memory?: number;
    /**
     * Tools of MCP servers: `shops` has those of `test/fixtures/mcp-server.ts`, over stdio. How many steps that takes, each
     * listing of the tools being one where the framework asks again and again.
     */
    mcp?: number;
    /**
     * Streaming, and approvals of the framework's own within an agent that is a tool: `speaks` is the same as one streamed
     * run, and gives all its text and its output. How many steps that takes beside the approval.
     */
    streaming?: number;
    /** Structured output: `structured` gives `{ city, degrees }`, which the model says in one turn. */
    structured?: true;
    /**
     * Agents at once that are asked the same: `siblings` gives what each of two said, and notes it by their number. How
     * many steps that takes.
     */
    siblings?: number;
    /** Questions of the framework's own: `asks` asks three at once, and gives all answers in their order. */
    questions?: true;
  };
}

/** What a run leaves, without times, attempts and the name of the case. */
interface Outcome {
  result: unknown;
  records: unknown[];
}

/**
 * Sets up a provider before the tests of this file.
 * @param script what it says; of an adapter's own tests another than the contract's
 */
export function contractScene(
  { module, preload }: Pick<AdapterFixture, 'module' | 'preload'>,
  script: ProviderScript = contractScript,
) {
  let provider: ScriptedProvider;
  let log: string;
  beforeAll(async () => {
    provider = await startScriptedProvider(script);
    log = newEffects();
  });
  afterAll(async () => await provider.stop());

  const spawn = async (
    taskQueue: string,
    kill?: KillAt,
    changed?: Record<string, string>,
  ): Promise<WorkerProcess> =>
    await spawnWorker({
      taskQueue,
      module,
      plugin: QUICK_PLUGIN,
      worker: QUICK_WORKER,
      ...(kill && { kill }),
      ...(preload !== undefined && { preload }),
      env: {
        EFFECTS: log,
        OPENAI_BASE_URL: provider.url,
        OPENAI_API_KEY: 'none',
        PROVIDER_URL: provider.url,
        MEMORY: dirname(log),
        KIT_BLOBS: join(dirname(log), 'blobs'),
        ...changed,
      },
    });
  const start = async (
    agent: string,
    taskQueue: string,
    input = `case:${taskQueue}`,
    workflowId = taskQueue,
  ) => await (await client()).workflow.start(agent, { taskQueue, workflowId, args: [input], ...QUICK_START });
  const callsOf = (id: string) => provider.requests.filter(({ body }) => JSON.stringify(body).includes(id));
  const bodiesOf = (id: string) =>
    Object.fromEntries(
      Object.entries(tally(log))
        .filter(([what]) => what.includes(id))
        .map(([what, n]) => [what.replaceAll(id, 'X'), n]),
    );

  /** Runs `steps`, or another agent, its worker killed as told and replaced, while somebody decides what it asks. */
  const crash = async (
    kill: KillAt | undefined,
    agent = 'steps',
    decide?: (handle: WorkflowHandle) => Promise<void>,
  ) => {
    const id = unique(kill ? `${kill.when}${kill.step}` : 'whole');
    const worker = await spawn(id, kill);
    const handle = await start(agent, id);
    const decided = decide?.(handle);
    const living = kill ? (await worker.ended, await spawn(id)) : worker;
    const result = (await handle.result()) as unknown;
    await decided;
    const done = await handle.query(records);
    const histories = await chainOf(handle);
    await living.kill();
    const calls = new Map<string, number>();
    for (const { key } of callsOf(id)) calls.set(key, (calls.get(key) ?? 0) + 1);
    const outcome = JSON.parse(
      JSON.stringify({ result, records: comparable(done) }).replaceAll(id, 'X'),
    ) as Outcome;
    return { outcome, histories, calls: [...calls.values()].toSorted((a, b) => a - b), bodies: bodiesOf(id) };
  };

  return {
    spawn,
    start,
    crash,
    callsOf,
    bodiesOf,
    get provider() {
      return provider;
    },
  };
}

/** Kills of a worker before and after each step's answer is recorded. */
export function eachStep(steps: number): KillAt[] {
  return (['before', 'after'] as const).flatMap((when) =>
    Array.from({ length: steps }, (_, i) => ({ step: i + 1, when })),
  );
}

/** All of them in the soak; else at most four, from the beginning to the end, and two of what goes like something else. */
export function kills(steps: number, few = false): KillAt[] {
  const all = eachStep(steps);
  if (process.env['TEST_SOAK']) return all;
  // Before one step and after another.
  const some = all.filter(({ step, when }) => (step % 2 === 0) === (when === 'after'));
  const most = few ? 2 : 4;
  const every = Math.max(1, some.length / most);
  return some.filter((_, i) => Math.floor(i / every) > Math.floor((i - 1) / every));
}

/** Four at a time: each is mostly waiting for a dead process to be noticed. */
export function inGroups<T>(all: T[]): [T[]][] {
  return Array.from({ length: Math.ceil(all.length / 4) }, (_, i) => [all.slice(i * 4, i * 4 + 4)]);
}

/** Records without what may differ between equal runs, in an order that does not depend on which tool was faster. */
function comparable(done: StepRecord[]): unknown[] {
  return done
    .map(({ kind, name, value, failure, usage }) => ({
      kind,
      name,
      value: withoutIds(value),
      failure,
      usage,
    }))
    .map((record) => JSON.stringify(record))
    .toSorted();
}

/** A provider mints new ids for each answer; keys of steps are of the case. */
function withoutIds(value: unknown): unknown {
  const text = JSON.stringify(value ?? null, (field, inner: unknown) =>
    /^(id|callId|tool_call_id|responseId|requestId|created_at|providerData)$/.test(field) ? undefined : inner,
  );
  return JSON.parse(
    text.replaceAll(/"(call|fc|msg)_[0-9a-f]{32}"/g, '"$1"').replaceAll(/"[0-9a-f]{24}(\.\d+)?"/g, '"a key"'),
  );
}
