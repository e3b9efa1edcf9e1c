/** The live loops of one worker process. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CancelledFailure } from '@temporalio/common';
import type { Agent } from '../agent.ts';
import { NO_BLOBS } from '../blobs/blob-codec.ts';
import type { RunStorage } from '../blobs/run-storage.ts';
import type { Prices } from '../prices/prices.ts';
import type { Advance, AdvanceInput, Ahead, RunSettings, WatchResult } from '../protocol/advance.ts';
import { MAX_DEATHS } from '../protocol/limits.ts';
import { BUILD_SIGNAL } from '../protocol/names.ts';
import type { StepRecord } from '../protocol/step.ts';
import { keepLoop, type Kept } from './keep-loop.ts';
import { knownAttributes } from './known-attributes.ts';
import type { Loop } from './loop.ts';
import { RunningCalls } from './running-calls.ts';
import { took } from './took.ts';
import { currentTask, type CurrentTask, failingSince, type RunContact } from './workflow-task.ts';

/** Patience with a loop that asks nothing, in milliseconds: beside other things in flight, and alone. */
const PATIENCE_BUSY = 100;
const PATIENCE_ALONE = 300;
/**
 * Steps in flight from which an `advance` is brief: each answer is two events, and the server ends a task behind which
 * more than 100 events, or 2 MB of them, wait.
 */
const CROWD = 30;
const PATIENCE_CROWDED = 5;
/** The same for a loop that has an answer before the run: until it has asked, the answer is not recorded. */
const PATIENCE_AHEAD = 10;
/**
 * How long a task that is not the server's is given to be replaced, the first and the last time; meanwhile this process
 * answers no query of the run. Milliseconds.
 */
const AGAIN_AFTER = 50;
const AGAIN_AT_MOST = 1_000;
const SWEEP_EVERY = 5_000;

export interface LoopHostOptions {
  /** The run's task queue; the host's own is named after it. */
  taskQueue: string;
  agents: ReadonlyMap<string, Agent>;
  /** Tools that workers serve as activities of their own names. */
  servedTools: ReadonlySet<object>;
  settings: RunSettings;
  storage: RunStorage;
  prices: Prices;
  /** Milliseconds after which a loop that only waits is dropped. */
  parkAfterMs: number;
  /** Live loops beyond which those that wait long are dropped at once. */
  maxLoops: number;
  /** Milliseconds for which a task for an unknown agent is left to other workers. */
  agentMissingMs: number;
}

export class LoopHost {
  /** The task queue that only this process polls. */
  readonly queue: string;
  readonly calls = new RunningCalls();
  readonly #options: LoopHostOptions;
  /** How far this machine's clock is behind the server's, in milliseconds: 0 or less. */
  #behind = 0;
  readonly #kept = new Map<string, Kept>();
  readonly #sweep: NodeJS.Timeout;

  constructor(options: LoopHostOptions) {
    this.#options = options;
    this.queue = `${options.taskQueue}/host-${randomUUID().slice(0, 8)}`;
    this.#sweep = setInterval(() => this.sweep(), SWEEP_EVERY);
    this.#sweep.unref();
  }

  get prices(): Prices {
    return this.#options.prices;
  }

  get storage(): RunStorage {
    return this.#options.storage;
  }

  /** How many loops live here. */
  get size(): number {
    return this.#kept.size;
  }

  /** The host stops: its loops are dropped; they are built again elsewhere. */
  close(): void {
    clearInterval(this.#sweep);
    for (const { loop } of this.#kept.values()) this.#drop(loop, 'the worker stops');
  }

  find(runId: string): Loop | undefined {
    return this.#kept.get(runId)?.loop;
  }

  /**
   * Lets a loop go on, or builds it. May be called any number of times with the same input, in any process: it answers
   * `lost` when the loop here is not where the run is. Never throws for the agent's own errors.
   */
  async advance(contact: RunContact, input: AdvanceInput): Promise<Advance> {
    const began = Date.now();
    this.#behind = Math.min(this.#behind, began - input.taskStartedAt);
    const builds = input.epoch === undefined && !input.leave;
    // Not on a task that is none: the agent's code would run for nobody.
    const task = builds ? await this.#task(contact, input) : undefined;
    if (task?.isOurs === false) return { again: true };
    const answer = await this.#advance(contact, input, task?.attempt ?? 1);
    if (answer.built && input.records.length > 0) answer.built.ms = Date.now() - began;
    const age = Date.now() - input.taskStartedAt - this.#behind;
    const doubtful = input.inFlight > 0 || age > input.taskTimeoutMs / 2;
    if (!doubtful || (await this.#task(contact, input)).isOurs) return answer;
    // A loop that blocks the event loop until its task is over is as harmful as one that ends the process.
    const harmless = Date.now() - began < input.taskTimeoutMs;
    if (answer.built?.traced && harmless) await tellBuild(contact, answer.built.epoch, 'survived');
    return { again: true, ...(input.inFlight >= CROWD && { crowded: true }) };
  }

  /** The server's present task; if that is not the one under which this was asked, after a while. */
  async #task(contact: RunContact, { historyLength, agains = 0 }: AdvanceInput): Promise<CurrentTask> {
    const task = await currentTask(contact, historyLength);
    if (!task.isOurs) await delay(Math.min(AGAIN_AT_MOST, AGAIN_AFTER * 2 ** agains));
    return task;
  }

  async #advance(contact: RunContact, input: AdvanceInput, attempt: number): Promise<Advance> {
    const { runId } = contact;
    if (input.leave) {
      const loop = this.find(runId);
      if (loop) this.#drop(loop, 'the run goes on as a new one');
      return {};
    }
    if (input.noteFacts) return { noted: true, took: took(input) };
    const read = await this.#readRecords(contact, input);
    if ('unable' in read) return read;
    let built: Advance['built'];
    if (input.epoch === undefined) {
      const answer = await this.#build(contact, input, attempt);
      if (answer.end || answer.unable !== undefined) return answer;
      ({ built } = answer);
    }
    const loop = this.find(runId);
    if (!loop) return { lost: 'absent' };
    let wrong =
      loop.epoch === (input.epoch ?? loop.epoch)
        ? loop.take(input.from, read.records, input.seen)
        : 'another loop';
    const isAhead = loop.had > input.from + input.records.length;
    // A task in which the run answered a step that was asked in it, and which failed: the run knows of neither.
    if (isAhead && (input.cancel || loop.isBeyond(input.seen))) wrong ??= 'ahead';
    if (wrong !== undefined) {
      this.#drop(loop, wrong);
      return { lost: wrong };
    }
    this.#kept.get(runId)!.poke.advanced();
    if (built) loop.start();
    // What it asks follows from answers that the run is yet to see: in this very task, after the signals; or one that is on
    // its way, and perhaps gets lost.
    if (isAhead) return { took: took(input) };
    if (input.cancel) {
      // What it cleans up depends on how far it came.
      await loop.caughtUp(built ? PATIENCE_ALONE : 0);
      this.calls.abortRun(runId, new CancelledFailure('The run was cancelled.'));
      loop.cancel();
    }
    const got = await loop.next(input.seen, patience(input));
    if (loop.dropped) return { lost: 'dropped' };
    return { ...(built && { built }), took: took(input, built), ...got };
  }

  /** The records with what is kept in the blob store, unless the loop here has had them. */
  async #readRecords(
    { runId, client }: RunContact,
    { epoch, from, records }: AdvanceInput,
  ): Promise<{ records: StepRecord[] } | { unable: string }> {
    const loop = epoch === undefined ? undefined : this.find(runId);
    const had = loop?.epoch === epoch && loop ? Math.max(0, loop.had - from - 1) : 0;
    if (!records.some(({ blob }, i) => blob && i >= had)) return { records };
    const { answers } = this.#options.storage;
    if (!answers) return { unable: NO_BLOBS };
    const { loadedDataConverter } = client.options;
    try {
      const needed = await answers.readAll(records.slice(had), loadedDataConverter);
      return { records: [...records.slice(0, had), ...needed] };
    } catch (error) {
      return { unable: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Lets the loop of a run go on with the answer to a step before the run has it. */
  async goAhead(runId: string, key: string, read: () => unknown): Promise<Ahead | undefined> {
    const loop = this.find(runId);
    const next = await loop?.goAhead(key, read, PATIENCE_AHEAD);
    return next && { epoch: loop!.epoch, next };
  }

  /** Waits until a loop that is busy with its own work has something, or was quiet for so many milliseconds. */
  async watch(runId: string, epoch: string, seen: number, quietFor: number): Promise<WatchResult> {
    for (;;) {
      const loop = this.find(runId);
      if (!loop || loop.epoch !== epoch) return 'gone';
      const got = await loop.next(seen, quietFor || 10_000);
      if (loop.dropped) return 'gone';
      if (got.steps || got.end) return 'ready';
      if (quietFor > 0) return 'quiet';
    }
  }

  /** Drops loops that have only waited for long, and beyond the cap those that will wait long. */
  sweep(now = Date.now()): void {
    for (const { loop } of this.#kept.values()) {
      if (loop.waiting > 0 || this.calls.isBusy(loop.runId)) continue;
      if (loop.onlyWaits && now - loop.touched > this.#options.parkAfterMs) this.#drop(loop, 'it only waits');
    }
    this.#makeRoom();
  }

  #makeRoom(): void {
    let over = this.#kept.size - this.#options.maxLoops;
    for (const { loop } of this.#kept.values()) {
      if (over <= 0) return;
      if (loop.waiting > 0 || !loop.onlyWaitsLong || this.calls.isBusy(loop.runId)) continue;
      this.#drop(loop, 'there are too many loops here');
      over--;
    }
  }

  #drop(loop: Loop, why: string): void {
    if (this.find(loop.runId) === loop) this.#kept.delete(loop.runId);
    loop.drop(why);
  }

  #settingsOf(agent: string): RunSettings {
    const storesPayloads = this.storage.maxPayloadBytes === Infinity;
    return {
      ...this.#options.settings,
      priceTable: this.prices.table,
      ...(storesPayloads && { storesPayloads }),
      ...this.#options.agents.get(agent)?.settings,
    };
  }

  /** Builds a loop and keeps it. Answers that it is lost, or its end, when it must not be built here. */
  async #build(contact: RunContact, input: AdvanceInput, attempt: number): Promise<Advance> {
    const { runId } = contact;
    const before = this.find(runId);
    if (before) this.#drop(before, 'another was asked for');
    const agent = this.#options.agents.get(input.agent);
    if (!agent) {
      const missingFor = Date.now() - (await failingSince(contact));
      if (missingFor < this.#options.agentMissingMs) return { unable: this.#lacks(input.agent) };
      const message = `Cannot run agent "${input.agent}": no worker on this task queue has had it for ${this.#options.agentMissingMs} ms. Pass it to AgentsPlugin({ agents }) of a worker that polls the queue.`;
      return this.#refuse({ name: 'AgentNotFoundError', message });
    }
    if ((input.deaths ?? 0) >= MAX_DEATHS) {
      const message = `Agent ${input.agent} lost its worker process ${input.deaths} times in a row between two steps: its own code kills or blocks the process.`;
      return this.#refuse({ name: 'LoopKillsWorkerError', message });
    }
    const loop = keepLoop(this.#kept, contact, input, {
      agent,
      storage: this.storage,
      serves: (tool) => this.#options.servedTools.has(tool),
      gone: (lost) => this.#drop(lost, 'its run is gone'),
    });
    // An earlier attempt of this task may have died of this very loop. Leave a trace before trying.
    const traced = (input.deaths || attempt > 1) && (await tellBuild(contact, loop.epoch));
    this.#makeRoom();
    const searchAttributes = await knownAttributes(contact, attempt);
    const known = searchAttributes.length > 0 && { searchAttributes };
    const settings = { ...this.#settingsOf(input.agent), ...known };
    return { built: { epoch: loop.epoch, host: this.queue, settings, ...(traced && { traced }) } };
  }

  #lacks(agent: string): string {
    const has = [...this.#options.agents.keys()].join(', ');
    const left = Math.round(this.#options.agentMissingMs / 1_000);
    return `This worker has no agent named "${agent}", only ${has}. The run is left to other workers for ${left} s.`;
  }

  #refuse(failure: { name: string; message: string }): Advance {
    return { built: { epoch: 'none', host: this.queue }, end: { failure, final: true } };
  }
}

function patience({ inFlight, records, acts }: AdvanceInput): number {
  // Nothing for the loop: the run only wants to know that it is still there, before it acts.
  if (acts > 0 && records.length === 0) return 0;
  if (inFlight >= CROWD) return PATIENCE_CROWDED;
  return inFlight > 0 ? PATIENCE_BUSY : PATIENCE_ALONE;
}

/** Tells the run that a loop is about to be built, or that the process lived on though the run got no answer. */
async function tellBuild(
  { client, workflowId, runId }: RunContact,
  epoch: string,
  survived?: 'survived',
): Promise<true | undefined> {
  try {
    await client.workflow.getHandle(workflowId, runId).signal(BUILD_SIGNAL, epoch, survived);
    return true;
  } catch {
    return undefined; // then this build is not counted
  }
}
