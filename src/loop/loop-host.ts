/** The live loops of one worker process. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { Agent } from '../agent.ts';
import type { Advance, AdvanceInput, RunSettings, WatchResult } from '../protocol/advance.ts';
import { MAX_LOST_BUILDS } from '../protocol/limits.ts';
import { BUILD_SIGNAL, POKE_SIGNAL } from '../protocol/names.ts';
import { FreezeMonitor } from './freeze-monitor.ts';
import { Loop } from './loop.ts';
import { Poke } from './poke.ts';
import { RunningCalls } from './running-calls.ts';

/** Patience with a loop that asks nothing, in milliseconds: beside other things in flight, and alone. */
const PATIENCE_BUSY = 100;
const PATIENCE_ALONE = 300;
const SWEEP_EVERY = 5_000;

export interface LoopHostOptions {
  /** The run's task queue; the host's own is named after it. */
  taskQueue: string;
  agents: ReadonlyMap<string, Agent>;
  /** Tools that workers serve as activities of their own names. */
  servedTools: ReadonlySet<object>;
  settings: RunSettings;
  /** Milliseconds after which a loop that only waits is dropped. */
  parkAfterMs: number;
  /** Live loops beyond which those that wait long are dropped at once. */
  maxLoops: number;
  /** Milliseconds for which a task for an unknown agent is left to other workers. */
  agentMissingMs: number;
}

/** The run that asks, and a client to reach it. */
export interface RunContact {
  runId: string;
  workflowId: string;
  client: Client;
}

interface Kept {
  loop: Loop;
  poke: Poke;
}

export class LoopHost {
  /** The task queue that only this process polls. */
  readonly queue: string;
  readonly calls = new RunningCalls();
  readonly #freezes = new FreezeMonitor();
  readonly #options: LoopHostOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #sweep: NodeJS.Timeout;

  constructor(options: LoopHostOptions) {
    this.#options = options;
    this.queue = `${options.taskQueue}/host-${randomUUID().slice(0, 8)}`;
    this.#sweep = setInterval(() => this.sweep(), SWEEP_EVERY);
    this.#sweep.unref();
  }

  /** How many loops live here. */
  get size(): number {
    return this.#kept.size;
  }

  /** The host stops: its loops are dropped; they are built again elsewhere. */
  close(): void {
    clearInterval(this.#sweep);
    void this.#freezes.close();
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
    const answer = await this.#advance(contact, input);
    const hold = this.#freezes.hold(began, input.taskTimeoutMs);
    if (hold === 0) return answer;
    await delay(hold);
    const loop = this.find(contact.runId);
    if (loop) this.#drop(loop, 'this process was frozen');
    return { lost: 'this process was frozen' };
  }

  async #advance(contact: RunContact, input: AdvanceInput): Promise<Advance> {
    const { runId } = contact;
    if (input.leave) {
      const loop = this.find(runId);
      if (loop) this.#drop(loop, 'the run goes on as a new one');
      return {};
    }
    let built: Advance['built'];
    if (input.epoch === undefined) {
      const answer = await this.#build(contact, input);
      if (answer) return answer;
      built = { epoch: this.find(runId)!.epoch, host: this.queue, settings: this.#settingsOf(input.agent) };
    }
    const loop = this.find(runId);
    if (!loop) return { lost: 'absent' };
    const wrong =
      loop.epoch === (input.epoch ?? loop.epoch) ? loop.take(input.from, input.records, input.seen) : 'another loop';
    if (wrong !== undefined) {
      this.#drop(loop, wrong);
      return { lost: wrong };
    }
    this.#kept.get(runId)!.poke.advanced();
    if (built) loop.start();
    if (input.cancel) {
      // What it cleans up depends on how far it came.
      await loop.caughtUp(built ? PATIENCE_ALONE : 0);
      this.calls.abortRun(runId, new CancelledFailure('The run was cancelled.'));
      loop.cancel();
    }
    const got = await loop.next(input.seen, input.busy ? PATIENCE_BUSY : PATIENCE_ALONE);
    if (loop.dropped) return { lost: 'dropped' };
    return { ...(built && { built }), ...got };
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
    return { ...this.#options.settings, ...this.#options.agents.get(agent)?.settings };
  }

  /** Builds a loop and keeps it. Answers instead when it must not be built here. */
  async #build(contact: RunContact, input: AdvanceInput): Promise<Advance | undefined> {
    const { runId } = contact;
    const before = this.find(runId);
    if (before) this.#drop(before, 'another was asked for');
    const agent = this.#options.agents.get(input.agent);
    const task = await pendingTask(contact);
    if (!agent) {
      if (Date.now() - task.scheduledAt < this.#options.agentMissingMs) return { lost: 'unknown agent' };
      const message = `Cannot run agent "${input.agent}": no worker on this task queue has had it for ${this.#options.agentMissingMs} ms. Pass it to AgentsPlugin({ agents }) of a worker that polls the queue.`;
      return this.#refuse({ name: 'AgentNotFoundError', message });
    }
    if ((input.lostBuilds ?? 0) >= MAX_LOST_BUILDS) {
      const message = `Agent ${input.agent} lost its worker ${input.lostBuilds} times between two steps: its own code kills or blocks the process.`;
      return this.#refuse({ name: 'LoopKillsWorkerError', message });
    }
    const loop = keepLoop(this.#kept, contact, input, {
      agent,
      serves: (tool) => this.#options.servedTools.has(tool),
      gone: (lost) => this.#drop(lost, 'its run is gone'),
    });
    if (task.attempt > 1 || input.lostBuilds) {
      // An earlier attempt of this task may have died of this very loop. Leave a trace before trying.
      const handle = contact.client.workflow.getHandle(contact.workflowId, runId);
      await handle.signal(BUILD_SIGNAL, loop.epoch).catch(() => {});
    }
    this.#makeRoom();
    return undefined;
  }

  #refuse(failure: { name: string; message: string }): Advance {
    return { built: { epoch: 'none', host: this.queue }, end: { failure, final: true } };
  }
}

/**
 * Apart from `advance`, so that nothing the loop holds keeps alive the records it was built from.
 */
function keepLoop(
  kept: Map<string, Kept>,
  { runId, workflowId, client }: RunContact,
  { input, pending = [], pendingChanged = [], divergedAt }: AdvanceInput,
  host: { agent: Agent; serves(tool: object): boolean; gone(loop: Loop): void },
): Loop {
  const { agent } = host;
  const poke = new Poke({
    send: async () => await client.workflow.getHandle(workflowId, runId).signal(POKE_SIGNAL, loop.epoch),
    needed: () => loop.waiting === 0 && loop.hasSomething && kept.get(runId)?.loop === loop,
    isGone: (error) => error instanceof WorkflowNotFoundError,
    gone: () => host.gone(loop),
  });
  const loop: Loop = new Loop({
    runId,
    pending,
    pendingChanged,
    divergedAt,
    events: poke,
    serves: host.serves,
    body: async (self) => await agent.execute(input, { signal: self.abort.signal }),
  });
  kept.set(runId, { loop, poke });
  return loop;
}

async function pendingTask({ client, workflowId, runId }: RunContact): Promise<{ attempt: number; scheduledAt: number }> {
  const description = await client.workflow.getHandle(workflowId, runId).describe();
  const task = description.raw.pendingWorkflowTask;
  const seconds = Number(task?.originalScheduledTime?.seconds ?? Date.now() / 1000);
  return { attempt: task?.attempt ?? 1, scheduledAt: seconds * 1000 };
}
