import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { Checkpoint, CheckpointMetadata, CheckpointTuple } from '@langchain/langgraph';
import { nonCancellable } from '../../src/loop/current-loop.ts';
import type { KeptCheckpoint, NewCheckpoint, NewWrites } from '../../src/memory/checkpoint.ts';
import { encodeCheckpoint, encodeWrites } from './checkpoint-codec.ts';
import { fieldsOf, idOf, type MemoryCheckpointSaver } from './saver.ts';
import { isOfTask, TaskSaver } from './task-saver.ts';

/**
 * One invocation of a graph on a thread in memory, inside a run: a step reads where it begins, and one writes where it came
 * to. In between all is in the process: a loop that is built anew reads the same, and comes to the same.
 *
 * A namespace of a task is never kept, since its name is another in each loop; what runs in it runs again.
 */
export class ThreadRun extends TaskSaver {
  readonly #saver: MemoryCheckpointSaver;
  readonly #thread: string;
  readonly #eachStep: boolean;
  /** Where it began, by namespace. */
  readonly #bases = new Map<string, Promise<RunnableConfig | undefined>>();
  /** The newest checkpoint of each namespace: not the one with the greatest id, which is of some process's clock. */
  readonly #newest = new Map<string, string>();
  #changes: (NewCheckpoint | NewWrites)[] = [];
  /** Ids of checkpoints as memory has them, where an earlier loop wrote them. */
  readonly #kept = new Map<string, string>();
  /** What tells these changes from others of the invocation. */
  #as: object[] = [];
  #rootVersion = 0;
  readonly #invocation: string;
  /** How many checkpoints of the root were written. */
  #epoch = 0;

  /**
   * @param eachStep whether each superstep is written, not only the end
   * @param invocation key that no other invocation of the run has
   */
  constructor(saver: MemoryCheckpointSaver, thread: string, eachStep: boolean, invocation: string) {
    super(saver.serde);
    this.#saver = saver;
    this.#thread = thread;
    this.#eachStep = eachStep;
    this.#invocation = invocation;
  }

  /**
   * The scope of what is asked now, if each superstep is written: each checkpoint of the root begins another one, an epoch. So
   * what a later superstep asks is known without what came before, and an equal question of an earlier superstep is not taken
   * for it.
   */
  get scope(): string | undefined {
    return this.#eachStep ? `${this.#invocation}/${this.#epoch}` : undefined;
  }

  /** Goes on from the last checkpoint that an earlier loop wrote. @returns whether there is one */
  async goOn(): Promise<boolean> {
    const thread = this.#saver.thread(this.#thread);
    const began = this.#epoch;
    // What runs beside it has asked by then: only what is its own may be passed over.
    await eventLoopTurn();
    while (this.scope !== undefined && thread.goesOnAfter(this.#writtenAs(this.#epoch + 1), this.scope))
      this.#epoch++;
    if (this.#epoch === began) return false;
    const last = this.#epoch--;
    const { id } = await thread.keep([], this.#writtenAs(last));
    this.#epoch = last;
    const kept = await this.#saver
      .threadBeside(this.#thread)
      .read({ namespace: '', ...(id !== undefined && { id }) });
    if (kept) await this.#take(this.#thread, kept);
    else this.#epoch = began;
    return kept !== undefined;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    await this.#begin(config);
    const id = idOf(config) ?? this.#newest.get(nameOf(config));
    if (id === undefined) return undefined;
    return await super.getTuple({
      ...config,
      configurable: { ...config.configurable, checkpoint_id: id },
    });
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const { checkpoint_ns: namespace = '' } = fieldsOf(config);
    this.#newest.set(nameOf(config), checkpoint.id);
    const answer = await super.put(inNamespace(config), checkpoint, metadata);
    if (!isOfTask(namespace)) {
      const where = { namespace, parentId: this.#idInMemory(idOf(config)) };
      const all = Object.keys(checkpoint.channel_versions);
      this.#changes.push(await encodeCheckpoint(this.serde, where, checkpoint, metadata, all));
      this.#as.push({ namespace, source: metadata.source, step: metadata.step });
      if (this.#eachStep && namespace === '') {
        await this.end(false, this.#writtenAs(this.#epoch + 1));
        this.#epoch++;
      } else if (this.#eachStep) await this.end();
    }
    return answer;
  }

  override async putWrites(
    config: RunnableConfig,
    writes: [string, unknown][],
    task: string,
    taskPath?: string,
  ): Promise<void> {
    await super.putWrites(inNamespace(config), writes, task, taskPath);
    const { checkpoint_ns: namespace = '', checkpoint_id: id } = fieldsOf(config);
    const where = { namespace, id: this.#idInMemory(id)! };
    if (id !== undefined && !isOfTask(namespace))
      this.#changes.push(await encodeWrites(this.serde, where, writes, task, taskPath));
  }

  override async getDeltaChannelHistory(options: { config: RunnableConfig; channels: string[] }) {
    const own = await super.getDeltaChannelHistory(options);
    const base = await this.#bases.get(nameOf(options.config));
    const channels = options.channels.filter((channel) => !('seed' in (own[channel] ?? {})));
    if (!base || channels.length === 0) return own;
    const before = await this.#saver.getDeltaChannelHistory({ config: base, channels });
    for (const channel of channels)
      own[channel] = {
        ...before[channel],
        writes: [...(before[channel]?.writes ?? []), ...(own[channel]?.writes ?? [])],
      };
    return own;
  }

  /**
   * Writes what is not written yet, also of a run that was cancelled.
   * @param failed whether the graph did
   * @param as what tells this from other writes of the run
   * @returns the id of the newest checkpoint, as memory has it
   */
  async end(failed = false, as = this.#writtenAs(this.#as)): Promise<string | undefined> {
    const { onFork, onlyWhole } = this.#saver.inRun;
    const changes = this.#changes;
    if (changes.length === 0 || (failed && onlyWhole)) return undefined;
    this.#changes = [];
    this.#as = [];
    const thread = this.#saver.thread(this.#thread);
    const orForkAt = onFork ? this.#rootVersion : undefined;
    const answer = await nonCancellable(async () => await thread.keep(changes, as, orForkAt));
    const last = changes.findLast(({ kind }) => kind === 'checkpoint');
    if (last && answer.id !== undefined) this.#kept.set(last.id, answer.id);
    if (answer.thread !== this.#thread) onFork?.(answer.thread);
    return answer.id;
  }

  /** Tells a write from others of the run, by its epoch or its changes; not by ids, which are others in each loop. */
  #writtenAs(what: number | object[]): object {
    return { invocation: this.#invocation, what };
  }

  #idInMemory(id: string | undefined): string | undefined {
    return id === undefined ? undefined : (this.#kept.get(id) ?? id);
  }

  /** Reads the checkpoint that is asked for, once. */
  async #begin(config: RunnableConfig): Promise<void> {
    const { thread_id: thread, checkpoint_ns: namespace = '' } = fieldsOf(config);
    if (thread === undefined || isOfTask(namespace)) return;
    const id = idOf(config);
    if (id === undefined ? this.#newest.has(nameOf(config)) : await super.getTuple(config)) return;
    const name = id === undefined ? nameOf(config) : `${nameOf(config)} ${id}`;
    const base = this.#bases.get(name) ?? this.#read(thread, namespace, id);
    this.#bases.set(name, base);
    await base;
  }

  async #read(
    thread: string,
    namespace: string,
    id: string | undefined,
  ): Promise<RunnableConfig | undefined> {
    const of = { namespace, ...(id !== undefined && { id }) };
    const kept = await this.#saver.thread(thread).read(of);
    if (!kept) return undefined;
    if (id === undefined && namespace === '') this.#rootVersion = kept.version;
    return await this.#take(thread, kept, id === undefined);
  }

  /** Takes a checkpoint as memory has it. */
  async #take(thread: string, kept: KeptCheckpoint, isNewest = true): Promise<RunnableConfig> {
    const { config, checkpoint, metadata, parentConfig } = await this.#saver.decoded(thread, kept);
    await super.put(parentConfig ?? withoutId(config), checkpoint, metadata!);
    for (const { task, taskPath, writes } of await this.#saver.writesByTask(kept))
      await super.putWrites(config, writes, task, taskPath);
    if (isNewest) this.#newest.set(nameOf(config), kept.id);
    return config;
  }
}

function nameOf(config: RunnableConfig): string {
  const { thread_id: thread, checkpoint_ns: namespace = '' } = fieldsOf(config);
  return JSON.stringify([thread, namespace]);
}

/** The root is named by nothing, or by an empty text. */
function inNamespace({ configurable }: RunnableConfig): RunnableConfig {
  return {
    configurable: {
      ...configurable,
      checkpoint_ns: (configurable?.['checkpoint_ns'] as string | undefined) ?? '',
    },
  };
}

function withoutId({ configurable }: RunnableConfig): RunnableConfig {
  return { configurable: { ...configurable, checkpoint_id: undefined } };
}
