/** Where in a graph the running code is: a node that was interrupted is run again from its beginning. */
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import { currentPosition } from '../../src/loop/current-loop.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import type { Place } from '../../src/loop/places.ts';

/** What LangGraph puts into the config of the code that it runs. */
export interface GraphConfig {
  configurable?: {
    checkpoint_ns?: string;
    thread_id?: string;
    __pregel_scratchpad?: { resume?: unknown[]; interruptCounter?: number; currentTaskInput?: unknown };
    __pregel_checkpointer?: unknown;
  };
  executionInfo?: { nodeAttempt?: number };
  durability?: string;
  streamMode?: unknown;
  signal?: AbortSignal;
}

/**
 * The config of the task of a graph that the running code is part of.
 * @param given what that code says it is
 */
export function graphConfig(given?: GraphConfig): GraphConfig | undefined {
  const current = AsyncLocalStorageProviderSingleton.getRunnableConfig() as GraphConfig | undefined;
  return [current, given].find((config) => config?.configurable?.__pregel_scratchpad);
}

/** Of each task of a loop's graphs: its last execution, which attempt that was, and how many were before the first it counts. */
const attempts = perLoop(() => new Map<string, { execution: object; attempt: number; before: number }>());

/** A task is the same when it is resumed, and another when its node is tried again after an error. */
export function placeInGraph(): Place | undefined {
  const { configurable, executionInfo } = graphConfig() ?? {};
  const execution = configurable?.__pregel_scratchpad;
  if (!execution) return undefined;
  const { checkpoint_ns: task = '' } = configurable;
  const attempt = attemptOf(task, execution, executionInfo?.nodeAttempt ?? 1);
  return { name: `${task} ${attempt}`, execution };
}

/** LangGraph counts anew when a task is resumed, though it goes on with the attempt that was interrupted. */
function attemptOf(task: string, execution: object, counted: number): number {
  const position = currentPosition();
  if (!position) return counted;
  const ofLoop = attempts(position.loop);
  const last = ofLoop.get(task);
  if (last?.execution === execution) return last.attempt;
  const resumed = last && counted === 1;
  const before = resumed ? last.attempt - 1 : (last?.before ?? 0);
  const attempt = before + counted;
  ofLoop.set(task, { execution, attempt, before });
  return attempt;
}
