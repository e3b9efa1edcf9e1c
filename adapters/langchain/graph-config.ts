/** Where in a graph the running code is: a node that was interrupted is run again from its beginning. */
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
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

/** The config of the task of a graph that the running code is part of. */
export function graphConfig(): GraphConfig | undefined {
  const config = AsyncLocalStorageProviderSingleton.getRunnableConfig() as GraphConfig | undefined;
  return config?.configurable?.__pregel_scratchpad ? config : undefined;
}

/** A task is the same when it is resumed, and another when its node is tried again after an error. */
export function placeInGraph(): Place | undefined {
  const { configurable, executionInfo } = graphConfig() ?? {};
  const execution = configurable?.__pregel_scratchpad;
  return (
    execution && {
      name: `${configurable.checkpoint_ns ?? ''} ${executionInfo?.nodeAttempt ?? 1}`,
      execution,
    }
  );
}
