/** A run of a graph: what it waits for is asked of people, and it goes on with the answers. */
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
import { askPeople } from './interrupts.ts';
import { graphConfig, type GraphConfig } from './place.ts';
import { withStableIds } from './stable-ids.ts';
import { graphInBody } from './tool-body.ts';

/** A compiled graph, as far as its runs must know it. */
interface Graph {
  name?: string;
  checkpointer?: BaseCheckpointSaver | boolean;
}
type Run = (input: unknown, config: GraphConfig | undefined) => Promise<unknown>;

const savers = new WeakMap<Loop, WeakMap<object, MemorySaver>>();

/** Instruments the class of compiled graphs. */
export function instrumentGraph(prototype: object): boolean {
  const streams = patchMethod(prototype, 'stream', (stream) => {
    return function (this: Graph, ...args) {
      const run = async (): Promise<unknown> => await (stream.apply(this, args) as Promise<unknown>);
      return graphInBody(run) ?? run();
    };
  });
  const invokes = patchMethod(prototype, 'invoke', (invoke) => {
    return async function (this: Graph, input: unknown, config?: GraphConfig) {
      const run: Run = async (from, how) => await (invoke.call(this, from, how) as Promise<unknown>);
      const whole = async () => await withStableIds(() => untilDecided(this, run, input, config));
      return await (graphInBody(whole) ?? (insideRun() ? whole() : run(input, config)));
    };
  });
  return streams && invokes;
}

async function untilDecided(
  graph: Graph,
  run: Run,
  input: unknown,
  config: GraphConfig | undefined,
): Promise<unknown> {
  // What a graph within another waits for surfaces at the top.
  if (graphConfig() || config?.configurable?.__pregel_scratchpad) return await run(input, config);
  const how = withSaver(graph, config);
  let result = await run(input, how);
  while (isInterrupted(result)) {
    const resume = await askPeople(result[INTERRUPT]);
    result = await run(new Command({ resume }), how);
  }
  return result;
}

/** A graph that is interrupted needs a saver. One in memory starts empty in each loop, since all runs again. */
function withSaver(graph: Graph, config: GraphConfig = {}): GraphConfig {
  const { checkpointer } = graph;
  const { configurable } = config;
  const given = configurable?.__pregel_checkpointer ?? checkpointer;
  if (checkpointer === false) return config;
  return {
    ...config,
    configurable: { thread_id: 'run', ...configurable, __pregel_checkpointer: saverFor(graph, given) },
  };
}

function saverFor(graph: Graph, given: unknown): MemorySaver {
  if (typeof given !== 'object' || given === null) return new MemorySaver();
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
