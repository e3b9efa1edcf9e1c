/** A run of a graph: what it waits for is asked of people, and it goes on with the answers. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { IterableReadableStream } from '@langchain/core/utils/stream';
import {
  type BaseCheckpointSaver,
  Command,
  INTERRUPT,
  isInterrupted,
  MemorySaver,
} from '@langchain/langgraph';
import { UnsupportedError } from '../../src/errors/index.ts';
import { insideRun } from '../../src/loop/ask.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import type { Loop } from '../../src/loop/loop.ts';
import { patchMethod } from '../patch-method.ts';
import { askPeople, type Interrupt } from './interrupts.ts';
import { whileRunning } from './node-steps.ts';
import { graphConfig, type GraphConfig } from './place.ts';
import { withStableIds } from './stable-ids.ts';
import { graphInBody } from './tool-body.ts';

/** A compiled graph, as far as its runs must know it. */
interface Graph {
  name?: string;
  checkpointer?: BaseCheckpointSaver | boolean;
  getState(config: GraphConfig): Promise<{ tasks: readonly { interrupts: Interrupt[] }[] }>;
}
type Run<Result> = (input: unknown, config: GraphConfig | undefined) => Promise<Result>;
type Stream = AsyncIterable<unknown>;

const savers = new WeakMap<Loop, WeakMap<object, MemorySaver>>();
const driven = new AsyncLocalStorage<true>();

/** Instruments the class of compiled graphs. All other ways to run one come through these two. */
export function instrumentGraph(prototype: object): boolean {
  const drives = <Result>(name: string, drive: (graph: Graph, run: Run<Result>) => Run<Result>) =>
    patchMethod(prototype, name, (original) => {
      return function (this: Graph, input: unknown, config?: GraphConfig) {
        const run: Run<Result> = (from, how) =>
          whileRunning(this, () => original.call(this, from, how) as Promise<Result>);
        const whole = () => withStableIds(() => drive(this, run)(input, config));
        const inBody = graphInBody(whole);
        return inBody ?? (insideRun() && !driven.getStore() ? whole() : run(input, config));
      };
    });
  const reads = ['getState', 'getStateHistory', 'updateState'].map((name) =>
    patchMethod(prototype, name, (original) => {
      return function (this: Graph, config: GraphConfig, ...rest) {
        const saved = insideRun() && surfacesHere(this, config) && isSaver(this.checkpointer);
        return original.call(this, saved ? withSaver(this, config) : config, ...rest);
      };
    }),
  );
  return drives('stream', streamUntilDecided) && drives('invoke', untilDecided) && reads.every(Boolean);
}

function untilDecided(graph: Graph, run: Run<unknown>): Run<unknown> {
  return async (input, config) => {
    if (!surfacesHere(graph, config)) return await run(input, config);
    const how = withSaver(graph, config);
    let result = await driven.run(true, () => run(input, how));
    while (isInterrupted(result)) {
      const resume = await askPeople(result[INTERRUPT]);
      result = await driven.run(true, () => run(new Command({ resume }), how));
    }
    return result;
  };
}

/** A stream that waits for people goes on by itself once all is decided. */
function streamUntilDecided(graph: Graph, run: Run<Stream>): Run<Stream> {
  return async (input, config) => {
    if (!surfacesHere(graph, config)) return await run(input, config);
    const how = withSaver(graph, config);
    const inContext = AsyncLocalStorage.snapshot();
    const next = async () => {
      const { tasks } = await graph.getState(how);
      const interrupts = tasks.flatMap((task) => task.interrupts);
      if (interrupts.length === 0) return undefined;
      return await run(new Command({ resume: await askPeople(interrupts) }), how);
    };
    const first = await run(input, how);
    const parts = async function* () {
      for (let part: Stream | undefined = first; part; part = await inContext(next)) yield* part;
    };
    return IterableReadableStream.fromAsyncGenerator(parts());
  };
}

/** What a graph within another waits for surfaces at the top. */
function surfacesHere({ checkpointer }: Graph, config: GraphConfig | undefined): boolean {
  return checkpointer !== false && !graphConfig() && !config?.configurable?.__pregel_scratchpad;
}

/** A graph that is interrupted needs a saver. One in memory starts empty in each loop, since all runs again. */
function withSaver(graph: Graph, config: GraphConfig = {}): GraphConfig {
  const { checkpointer } = graph;
  const { configurable } = config;
  const given = configurable?.__pregel_checkpointer ?? checkpointer;
  return {
    // Not a copy of the whole state at each superstep that nobody looks at: only what it is interrupted with.
    ...(!isSaver(given) && { durability: 'exit' }),
    ...config,
    configurable: { thread_id: 'run', ...configurable, __pregel_checkpointer: saverFor(graph, given) },
  };
}

function isSaver(given: unknown): given is object {
  return typeof given === 'object' && given !== null;
}

function saverFor(graph: Graph, given: unknown): MemorySaver {
  if (!isSaver(given)) return new MemorySaver();
  if (given.constructor.name !== 'MemorySaver' && given.constructor.name !== 'InMemorySaver')
    throw new UnsupportedError(
      `Cannot run graph ${graph.name ?? ''} with its checkpointer: this version goes on from the records of the run alone. Compile it without one, or with a MemorySaver.`,
    );
  const { loop } = currentPosition()!;
  const ofLoop = savers.get(loop) ?? new WeakMap<object, MemorySaver>();
  savers.set(loop, ofLoop);
  const saver = ofLoop.get(given) ?? new MemorySaver();
  ofLoop.set(given, saver);
  return saver;
}
