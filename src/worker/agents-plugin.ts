import { type ClientOptions, type ClientPlugin, Connection } from '@temporalio/client';
import type { DataConverter, Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import {
  type BundleOptions,
  type BundlerPlugin,
  type Logger,
  type NativeConnectionOptions,
  type NativeConnectionPlugin,
  type ReplayWorkerOptions,
  Worker,
  type WorkerOptions,
  type WorkerPlugin,
} from '@temporalio/worker';
import { hostActivities, sharedActivities, toolActivities } from '../../activities/index.ts';
import type { Agent } from '../agent.ts';
import { AnswerBlobs } from '../blobs/answer-blobs.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { RunStorage } from '../blobs/run-storage.ts';
import { type BlobsSetting, defaultBlobs, isLoopback, openBlobs } from '../blobs/open-blobs.ts';
import { UNNAMED_THRESHOLD, withBlobCodec } from '../blobs/blob-codec.ts';
import { DeclarationError } from '../errors/index.ts';
import { LoopHost } from '../loop/loop-host.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { guardRejections } from '../loop/rejection-guard.ts';
import { type ModelPrice, Prices } from '../prices/prices.ts';
import type { RunSettings } from '../protocol/advance.ts';
import { MAX_PAYLOAD_BYTES } from '../protocol/limits.ts';
import { ADVANCE, AWAIT_LOOP } from '../protocol/names.ts';
import { assertKnownOptions } from '../known-options.ts';
import { ToolCache } from '../tools/tool-cache.ts';
import { byName, declared } from '../tools/declared.ts';
import { suspendingTool } from '../tools/suspending-tool.ts';
import type { Tool } from '../tools/tool-options.ts';
import { outliveSignals } from './outlive-signals.ts';
import { refuseAgentImports } from './refuse-agent-imports.ts';
import { workflowSource } from './workflow-bundle.ts';

/** What a worker serves, and how it looks after the loops of its agents. */
export interface AgentsPluginOptions {
  /** Agents whose runs this worker takes. Without any, it serves tools only. */
  agents?: readonly Agent[];
  /** Tools this worker serves as activities. @default every tool with a body that was declared at the top of a module */
  tools?: readonly Tool<any, any, any>[];
  /**
   * How long a model turn or a tool may be without heartbeat (one comes every second) until its worker counts as dead.
   * @default '10 seconds'
   */
  heartbeatTimeout?: Duration;
  /** After how long a loop that only waits is dropped, to be built again when its answer comes. @default '5 minutes' */
  parkAfter?: Duration;
  /** How many loops may live here before those that wait for days (approvals, sleeps, children) are dropped. @default 5000 */
  maxLoops?: number;
  /** For how long a run of an agent that this worker lacks is left to other workers until it fails. @default '10 minutes' */
  agentMissingTimeout?: Duration;
  /**
   * How long the agent's own code beside a long wait (an approval, a sleep, a child) is watched for the death of its
   * worker; what takes longer belongs in `step()`. @default '5 seconds'
   */
  watchFor?: Duration;
  /**
   * Where large payloads, memory and cached answers of tools are kept: a store, or its URL (`file:///var/lib/agents`,
   * `s3://bucket/prefix`). All workers of a run, and clients that read large results, need the same; see docs/blobs.md.
   * @default files of the user, if the server is known to be on this machine; else nothing is kept outside the history
   */
  blobs?: BlobsSetting;
  /**
   * What models cost, by name, in US dollars for a million tokens: `{ 'my-model': { input: 2, output: 8 } }`.
   * @default the prices that providers ask, by the table of `@pydantic/genai-prices`
   */
  prices?: Readonly<Record<string, ModelPrice>>;
  /** Records after which a run continues as new, where the server would suggest it later. For tests of your own. */
  continueAfterRecords?: number;
}

const OPTIONS = new Set<keyof AgentsPluginOptions>([
  'agents',
  'tools',
  'heartbeatTimeout',
  'parkAfter',
  'maxLoops',
  'agentMissingTimeout',
  'watchFor',
  'blobs',
  'prices',
  'continueAfterRecords',
]);

/**
 * Makes a worker run agents: `Worker.create({ taskQueue, plugins: [new AgentsPlugin({ agents: [support] })] })`.
 * Adds the activities, the workflow bundle (unless you pass your own, see `temporal-agents/workflows`), settings that
 * fit agents where you set none, and a second Worker on a task queue of this process, which lives and dies with yours.
 *
 * @throws DeclarationError from `Worker.create`: two tools or agents with one name, or an activity with a tool's name
 */
export class AgentsPlugin implements WorkerPlugin, ClientPlugin, BundlerPlugin, NativeConnectionPlugin {
  readonly name = 'temporal-agents';
  readonly #options: AgentsPluginOptions;
  readonly #blobs: BlobStore | undefined;
  readonly #prices: Prices;
  /** Of the connection that has this plugin. */
  #address: string | undefined;
  /** By the activity that belongs to it: the worker that runs is only known by its options. */
  readonly #hosts = new Map<unknown, { host: LoopHost; ownsConnection: boolean }>();

  /** @throws DeclarationError for an option that does not exist */
  constructor(options: AgentsPluginOptions = {}) {
    assertKnownOptions(options, OPTIONS, 'Cannot run agents');
    this.#options = options;
    this.#prices = new Prices(options.prices);
    this.#blobs = options.blobs === undefined ? undefined : openBlobs(options.blobs);
  }

  configureNativeConnection(options: NativeConnectionOptions): NativeConnectionOptions {
    this.#address = options.address ?? DEFAULT_ADDRESS;
    return options;
  }

  configureClient(options: Omit<ClientOptions, 'plugins'>): Omit<ClientOptions, 'plugins'> {
    const { connection } = options;
    const address = connection instanceof Connection ? connection.options.address : this.#address;
    return this.#withBlobs(options, blobsBeside(address));
  }

  configureWorker(options: WorkerOptions): WorkerOptions {
    // A plugin of the connection configures the host's own worker too, and a worker that has the plugin itself once more.
    if (options.activities && (ADVANCE in options.activities || AWAIT_LOOP in options.activities))
      return options;
    const tools = byName(this.#options.tools ?? declared);
    const suspending = [...tools.values()].filter(({ options: { suspends } }) => suspends);
    const agents = [...(this.#options.agents ?? []), ...suspending.map(suspendingTool)];
    const blobs =
      this.#blobs ?? blobsBeside(options.connection === undefined ? DEFAULT_ADDRESS : this.#address);
    if (!blobs) assertNoneCached(tools.values());
    const { activities, ...rest } = this.#withBlobs(options, blobs);
    const storage: RunStorage = {
      ...(blobs && { blobs, answers: new AnswerBlobs(blobs), toolCache: new ToolCache(blobs) }),
      maxPayloadBytes: blobs || rest.dataConverter?.externalStorage ? Infinity : MAX_PAYLOAD_BYTES,
    };
    const taken = [...tools.keys()].find((name) => activities && Object.hasOwn(activities, name));
    if (taken !== undefined) {
      throw new DeclarationError(
        `Cannot serve tool "${taken}": the worker has an activity of that name. Rename one.`,
      );
    }
    if (agents.length === 0)
      return { ...rest, activities: { ...activities, ...toolActivities(tools.values(), storage) } };
    const host = this.#createHost(options.taskQueue, agents, new Set(tools.values()), storage);
    const served = { ...activities, ...toolActivities(tools.values(), storage, host) };
    const ours = sharedActivities(host);
    this.#hosts.set(ours[ADVANCE], { host, ownsConnection: options.connection === undefined });
    return {
      ...sharedSettings(options),
      ...(options.workflowsPath === undefined && options.workflowBundle === undefined && workflowSource()),
      ...rest,
      activities: { ...served, ...ours },
    };
  }

  configureReplayWorker(options: ReplayWorkerOptions): ReplayWorkerOptions {
    const given = this.#withBlobs(options, defaultBlobs());
    return options.workflowsPath === undefined && options.workflowBundle === undefined
      ? { ...given, ...workflowSource() }
      : given;
  }

  configureBundler(options: BundleOptions): BundleOptions {
    const hook = options.webpackConfigHook ?? ((config) => config);
    return { ...options, webpackConfigHook: (config) => refuseAgentImports(hook(config)) };
  }

  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const activities = worker.options.activities as ReadonlyMap<string, unknown>;
    const found = this.#hosts.get(activities.get(ADVANCE));
    if (!found) return await next(worker);
    const { host, ownsConnection } = found;
    const { storage } = host;
    const { namespace, loadedDataConverter: dataConverter } = worker.options;
    // All plugins have had their say by now.
    if (storage.blobs) storage.memory = new MemoryStore(storage.blobs, { namespace, dataConverter });
    guardRejections((message, error) => loggerOf(worker).error(message, { error }));
    const createOwn = async () => {
      const hostWorker = await Worker.create({
        ...hostSettings(worker),
        // A worker closes the connection it made itself as it ends: the host's makes another.
        ...(!ownsConnection && worker.connection && { connection: worker.connection }),
        taskQueue: host.queue,
        activities: hostActivities(host),
      });
      silenceNoWorkflows(hostWorker);
      return hostWorker;
    };
    const names = (this.#options.agents ?? []).map(({ agentName }) => agentName).join(', ');
    const kept = storage.blobs ? `blobs in ${storage.blobs.url}` : 'no blobs are kept';
    loggerOf(worker).info(`Agents: ${names}; ${kept}`);
    const release = outliveSignals();
    try {
      // At once: whoever runs a worker may stop it in the next line.
      await runTogether(next(worker), worker, createOwn);
    } finally {
      release();
      host.close();
      this.#hosts.delete(activities.get(ADVANCE));
    }
  }

  #withBlobs<T extends { dataConverter?: DataConverter }>(options: T, unnamed: BlobStore | undefined): T {
    return this.#blobs
      ? withBlobCodec(options, this.#blobs)
      : withBlobCodec(options, unnamed, UNNAMED_THRESHOLD);
  }

  #createHost(
    taskQueue: string,
    agents: readonly Agent[],
    servedTools: ReadonlySet<object>,
    storage: RunStorage,
  ): LoopHost {
    const named = new Map<string, Agent>();
    for (const agent of agents) {
      if (typeof agent?.execute !== 'function') {
        throw new DeclarationError(
          'Cannot run what is not an agent: wrap each function in agent(name, run).',
        );
      }
      if (named.has(agent.agentName))
        throw new DeclarationError(`Cannot run two agents named "${agent.agentName}".`);
      named.set(agent.agentName, agent);
    }
    const { heartbeatTimeout, watchFor, continueAfterRecords } = this.#options;
    const settings: RunSettings = {
      ...(heartbeatTimeout !== undefined && { heartbeatTimeout }),
      ...(watchFor !== undefined && { watchForMs: msToNumber(watchFor) }),
      ...(continueAfterRecords !== undefined && { continueAfterRecords }),
    };
    return new LoopHost({
      taskQueue,
      agents: named,
      servedTools,
      storage,
      prices: this.#prices,
      settings,
      parkAfterMs: msToNumber(this.#options.parkAfter ?? '5 minutes'),
      maxLoops: this.#options.maxLoops ?? 5_000,
      agentMissingMs: msToNumber(this.#options.agentMissingTimeout ?? '10 minutes'),
    });
  }
}

/** Where Temporal's SDK connects without an address. */
const DEFAULT_ADDRESS = 'localhost:7233';

function blobsBeside(address: string | undefined): BlobStore | undefined {
  return isLoopback(address) ? defaultBlobs() : undefined;
}

function assertNoneCached(tools: Iterable<Tool<any, any, any>>): void {
  for (const { options } of tools) {
    if ((options.cache ?? 'off') === 'off') continue;
    throw new DeclarationError(
      `Cannot serve tool "${options.name}": "cache" needs a blob store. Give "blobs" to AgentsPlugin.`,
    );
  }
}

/** Defaults for the worker of the agents' task queue; each measured, see docs/settings.md. */
function sharedSettings({ tuner }: WorkerOptions): Partial<WorkerOptions> {
  return {
    ...(!tuner && {
      // A task holds its slot while the loop thinks, up to 300 ms.
      maxConcurrentWorkflowTaskExecutions: 400,
      maxConcurrentLocalActivityExecutions: 1_000,
      maxConcurrentActivityTaskExecutions: 400,
    }),
    // Eager turns run in the process that holds their loop.
    maxEagerActivityReservationsPerWorkflowTask: 100,
    // A cache smaller than the active runs costs a 10 s task timeout for each run evicted under its local activity.
    maxCachedWorkflows: 2_000,
    stickyQueueScheduleToStartTimeout: '5s',
    maxHeartbeatThrottleInterval: '2s',
    shutdownGraceTime: '20s',
  };
}

/** What the host's own worker has of the other one, all plugins of which have had their say by then. */
function hostSettings({ options }: Worker): Omit<WorkerOptions, 'taskQueue'> {
  const { namespace, dataConverter, identity, interceptors, shutdownGraceTime, shutdownForceTime } = options;
  return {
    namespace,
    maxConcurrentActivityTaskExecutions: 2_000,
    maxHeartbeatThrottleInterval: '2s',
    shutdownGraceTime,
    ...(shutdownForceTime !== undefined && { shutdownForceTime }),
    ...(dataConverter && { dataConverter }),
    identity,
    interceptors: { ...interceptors, workflowModules: [] },
  };
}

/** The worker's logger, which knows its task queue; protected, but the only one that the user's settings reach. */
function loggerOf(worker: Worker): Logger {
  return (worker as unknown as { logger: Logger }).logger;
}

/** A worker without workflows says so as a warning; this one is meant to have none. */
function silenceNoWorkflows(worker: Worker): void {
  const logger = loggerOf(worker);
  const warn: Logger['warn'] = (message, meta) => {
    if (!message.startsWith('No workflows registered')) logger.warn(message, meta);
  };
  Object.assign(worker, { logger: Object.assign(Object.create(logger), { warn }) });
}

/** Runs the host's own worker beside the other: it stops when that has drained, and takes it along if it dies. */
async function runTogether(
  sharedRun: Promise<void>,
  shared: Worker,
  createOwn: () => Promise<Worker>,
): Promise<void> {
  sharedRun.catch(() => {});
  try {
    const own = await createOwn();
    const ownEnd = own.run().finally(() => stop(shared));
    ownEnd.catch(() => {});
    try {
      await sharedRun;
    } finally {
      stop(own);
      await ownEnd;
    }
  } catch (error) {
    stop(shared);
    await sharedRun;
    throw error;
  }
}

function stop(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
