/** A run of a graph: what it waits for is asked of people, and it goes on with the answers. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type BaseCheckpointSaver, Command, isInterrupted, MemorySaver } from '@langchain/langgraph';
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { insideRun, scopeKey } from '../../src/loop/ask.ts';
import { currentPosition, type LoopPosition, runAt } from '../../src/loop/current-loop.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import { patchMethod } from '../patch-method.ts';
import { untilGivenUp } from './given-up.ts';
import { askPeople, type Interrupt } from './interrupts.ts';
import { whileRunning } from './node-steps.ts';
import { graphConfig, type GraphConfig } from './graph-config.ts';
import { MemoryCheckpointSaver } from './saver.ts';
import { withStableChance } from './stable-chance.ts';
import { type Round, streamOfRounds } from './stream-of-rounds.ts';
import { TaskSaver } from './task-saver.ts';
import { ThreadRun } from './thread-run.ts';
import { graphInBody } from './step-body.ts';

/** A compiled graph, as far as its runs must know it. */
interface Graph {
  name?: string;
  checkpointer?: BaseCheckpointSaver | boolean;
  cache?: unknown;
  getState(config: GraphConfig): Promise<{ tasks: readonly { interrupts: Interrupt[] }[] }>;
}
type Run<Result> = (input: unknown, config: GraphConfig | undefined) => Promise<Result>;

const savers = perLoop(() => new WeakMap<object, MemorySaver>());
/** Savers that graphs of runs were lent. */
const lent = new WeakSet<object>();
const driven = new AsyncLocalStorage<true>();

/** Instruments the class of compiled graphs. All other ways to run one come through these two. */
export function instrumentGraph(prototype: object): boolean {
  const drives = <Result>(name: string, drive: (graph: Graph, run: Run<Result>) => Run<Result>) =>
    patchMethod(prototype, name, (original) => {
      return function (this: Graph, input: unknown, config?: GraphConfig) {
        const run: Run<Result> = (from, how) =>
          whileRunning(
            this,
            () => original.call(uncached(this), from, savedWithin(this, how)) as Promise<Result>,
          );
        const whole = () => withStableChance(() => drive(this, run)(input, config));
        const inBody = graphInBody(whole);
        return inBody ?? (insideRun() && !driven.getStore() ? whole() : run(input, config));
      };
    });
  const reads = ['getState', 'getStateHistory'].map((name) =>
    patchMethod(prototype, name, (original) => {
      return function (this: Graph, config: GraphConfig, ...rest) {
        return original.call(this, asks(this, config) ? whereSaved(this, config) : config, ...rest);
      };
    }),
  );
  // `updateState` comes through this, too.
  const updates = patchMethod(prototype, 'bulkUpdateState', (original) => {
    return async function (this: Graph, config: GraphConfig, ...rest) {
      const { how, end } = asks(this, config) ? withSaver(this, config) : unchanged(config);
      const updated = (await original.call(this, how, ...rest)) as GraphConfig;
      const id = await end();
      // As memory has it: ids are others in each loop.
      return id === undefined ? updated : { configurable: { ...updated.configurable, checkpoint_id: id } };
    };
  });
  return (
    drives('stream', streamUntilDecided) && drives('invoke', untilDecided) && reads.every(Boolean) && updates
  );
}

/** What the process has cached of a node would stand in the place of its records, but not in another process. */
function uncached(graph: Graph): Graph {
  return insideRun() && graph.cache
    ? (Object.create(graph, { cache: { value: undefined } }) as Graph)
    : graph;
}

function untilDecided(graph: Graph, run: Run<unknown>): Run<unknown> {
  return async (input, config) => {
    if (!surfacesHere(graph, config)) return await run(input, config);
    const { how, end, thread } = withSaver(graph, config);
    const once = async (from: unknown) => await driven.run(true, () => run(from, how));
    // What it streamed in earlier supersteps is in no checkpoint.
    const epochs = givesState(how) ? thread : undefined;
    return await thenEnd(
      end,
      async () =>
        await inEpochs(epochs, async () => {
          // With no input it goes on from where the thread is.
          let result = await once((await epochs?.goOn()) ? null : input);
          while (mayWait(how, result)) {
            const answers = await decided(graph, how);
            // A breakpoint (`interruptBefore`) asks nobody.
            if (!answers) break;
            result = joined(how, result, await once(answers));
          }
          return result;
        }),
    );
  };
}

/** Whether an invocation gives the state that it came to, and not all that it streamed. */
function givesState({ streamMode = 'values' }: GraphConfig): boolean {
  return streamMode === 'values';
}

/** A state says whether the graph waits, but not if it is one value that is no object. */
function mayWait(how: GraphConfig, result: unknown): boolean {
  const tells = givesState(how) && (result === undefined || typeof result === 'object');
  return !tells || isInterrupted(result);
}

/** What an invocation gives that has gone on; of what it streamed before, all but the questions that are answered. */
function joined(how: GraphConfig, before: unknown, then: unknown): unknown {
  if (givesState(how)) return then;
  return [...(before as unknown[]).filter((part) => !isQuestion(part)), ...(then as unknown[])];
}

/** In a stream of more than one mode, a part says first of which it is. */
function isQuestion(part: unknown): boolean {
  return isInterrupted(Array.isArray(part) ? part.at(-1) : part);
}

/** Runs what a graph does, in the scope of the superstep that it is in. */
function inEpochs<T>(thread: ThreadRun | undefined, body: () => T): T {
  if (thread?.scope === undefined) return body();
  const position: LoopPosition = {
    ...currentPosition()!,
    get scope() {
      return thread.scope!;
    },
  };
  return runAt(position, body);
}

/** A stream that waits for people goes on by itself once all is decided. */
function streamUntilDecided(graph: Graph, run: Run<Round>): Run<Round> {
  return async (input, config) => {
    if (!surfacesHere(graph, config)) return await run(input, config);
    const { how, end } = withSaver(graph, config);
    return streamOfRounds({
      first: await run(input, how),
      next: async (left) => {
        const answers = await decided(graph, how);
        return answers && !left.aborted ? await run(answers, how) : undefined;
      },
      end,
    });
  };
}

/**
 * What people answer to all that a graph waits for; `undefined`: it waits for nobody. In the order of its tasks, not as they
 * came up: equal questions are told apart by it, and it must be the same in each loop.
 */
async function decided(graph: Graph, how: GraphConfig): Promise<Command | undefined> {
  const { tasks } = await graph.getState(how);
  const interrupts = tasks.flatMap((task) => task.interrupts);
  if (interrupts.length === 0) return undefined;
  const asked = interrupts.map(({ value }) => value);
  const ask = async () => await askPeople(interrupts);
  return new Command({ resume: await untilGivenUp(how.signal, asked, ask) });
}

/** What a graph within another waits for surfaces at the top. */
function surfacesHere({ checkpointer }: Graph, config: GraphConfig | undefined): boolean {
  return checkpointer !== false && !graphConfig(config);
}

/**
 * How a graph within another is run: it is saved as it goes, where the one at the top is saved at its end. LangGraph would not
 * save it at its own end, and if its node is run again, since it asked people afterwards, all that was done would be done anew.
 * One that keeps a state of its own is saved at its end, too.
 */
function savedWithin(graph: Graph, config: GraphConfig | undefined): GraphConfig | undefined {
  const around = graphConfig(config);
  if (!around || !insideRun() || typeof graph.checkpointer === 'boolean') return config;
  return (config?.durability ?? around.durability) === 'exit' ? { ...config, durability: 'async' } : config;
}

/** How a graph is run, and what is left to do when it ends. */
interface Lent {
  how: GraphConfig;
  /** @returns the id of the checkpoint that it came to, if memory has it */
  end: (failed?: boolean) => Promise<string | undefined>;
  thread?: ThreadRun;
}

const unchanged = (how: GraphConfig): Lent => ({ how, end: async () => undefined });

/** Runs what a graph does, and writes where it came to; if it failed, that counts, and not what became of the writing. */
async function thenEnd<T>(end: Lent['end'], body: () => Promise<T>): Promise<T> {
  const result = await body().catch(async (error: unknown) => {
    await end(true).catch(() => {});
    throw error;
  });
  await end();
  return result;
}

/** Whether a graph is asked for its state by the code of a run. */
function asks(graph: Graph, config: GraphConfig | undefined): boolean {
  return insideRun() && surfacesHere(graph, config) && isSaver(graph.checkpointer);
}

/** A graph that is interrupted needs a saver. One in memory starts empty in each loop, since all runs again. */
function withSaver(graph: Graph, config: GraphConfig = {}): Lent {
  const given = saverOf(graph, config);
  if (given instanceof MemoryCheckpointSaver)
    return onThread(given, config, scopeKey('graph', graph.name ?? '', {}));
  const { configurable } = config;
  const saver = isSaver(given) ? ofLoop(graph, given) : new TaskSaver();
  lent.add(saver);
  return unchanged({
    // Not a copy of the whole state at each superstep that nobody looks at: only what it is interrupted with.
    ...(!isSaver(given) && { durability: 'exit' }),
    ...config,
    configurable: {
      // With a saver of its own it must say which thread.
      ...(!isSaver(given) && { thread_id: 'run' }),
      ...configurable,
      __pregel_checkpointer: saver,
    },
  });
}

/** The state of a thread outlives the run: it is read when a graph begins, and written when it ends. */
function onThread(saver: MemoryCheckpointSaver, config: GraphConfig, invocation: string): Lent {
  const { configurable, durability = 'exit' } = config;
  if (configurable?.thread_id === undefined)
    throw new DeclarationError(
      "Cannot run the graph with its checkpointer: say which thread, invoke(input, { configurable: { thread_id: '…' } }).",
    );
  const eachStep = durability !== 'exit';
  const run = new ThreadRun(saver, configurable.thread_id, eachStep, invocation);
  lent.add(run);
  return {
    how: {
      ...config,
      durability: eachStep ? 'sync' : 'exit',
      configurable: { ...configurable, __pregel_checkpointer: run },
    },
    end: async (failed) => await run.end(failed),
    thread: run,
  };
}

/** Where a graph that runs, or ran, has its state: a thread in memory is asked as it is. */
function whereSaved(graph: Graph, config: GraphConfig): GraphConfig {
  return saverOf(graph, config) instanceof MemoryCheckpointSaver ? config : withSaver(graph, config).how;
}

function saverOf(graph: Graph, config: GraphConfig): unknown {
  return config.configurable?.__pregel_checkpointer ?? graph.checkpointer;
}

function isSaver(given: unknown): given is object {
  return typeof given === 'object' && given !== null;
}

function ofLoop(graph: Graph, given: object): MemorySaver {
  if (lent.has(given)) return given as MemorySaver;
  if (given.constructor.name !== 'MemorySaver' && given.constructor.name !== 'InMemorySaver')
    throw new UnsupportedError(
      `Cannot run ${graph.name ? `graph ${graph.name}` : 'a graph'} with its checkpointer: a run has its own records, which another store knows nothing of. Compile it without one, with a MemorySaver, or with MemoryCheckpointSaver of temporal-agents/langgraph.`,
    );
  const mine = savers(currentPosition()!.loop);
  const saver = mine.get(given) ?? new MemorySaver();
  mine.set(given, saver);
  return saver;
}
