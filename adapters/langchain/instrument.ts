/** Patches each copy of LangChain once, where the copy is. Outside a run, what is patched does what it did. */
import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { CallbackManager } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { StructuredTool } from '@langchain/core/tools';
import { BaseTracer } from '@langchain/core/tracers/base';
import { AsyncBatchedStore, CompiledStateGraph } from '@langchain/langgraph';
import { addLasting } from '../../src/errors/failure.ts';
import { UnsupportedError } from '../../src/errors/index.ts';
import { addPlaces } from '../../src/loop/places.ts';
import { dependency, others } from './dependencies.ts';
import { instrumentGraph } from './graph-run.ts';
import { instrumentBatches } from './item-store.ts';
import { instrumentModels } from './model.ts';
import { placeInGraph } from './place.ts';
import { instrumentIds } from './stable-ids.ts';
import { instrumentTools } from './tools.ts';
import { instrumentCallbacks, instrumentTracers } from './tracing.ts';

const ranges = [dependency, ...others].map(({ name, range }) => `${name} ${range}`).join(', ');
const unsupported = `Cannot instrument this version of LangChain: use ${ranges}.`;
const require = createRequire(import.meta.url);
/** They follow from answers, so that a restart only repeats them. */
const LASTING = new Set([
  'GraphRecursionError',
  'StructuredOutputParsingError',
  'MultipleStructuredOutputsError',
  'ModelCallLimitMiddlewareError',
  'ToolCallLimitExceededError',
]);

/** What each class is instrumented by; every call of it comes through what is patched there. */
const INSTRUMENTS: Readonly<Record<string, (prototype: never) => boolean>> = {
  AsyncBatchedStore: instrumentBatches,
  BaseChatModel: instrumentModels,
  BaseTracer: instrumentTracers,
  CallbackManager: instrumentCallbacks,
  // Its methods are those of every compiled graph.
  CompiledStateGraph: instrumentGraph,
  StructuredTool: instrumentTools,
};

/** Instruments the copy that modules import, and each that was or will be loaded by `require`. */
export function instrument(): void {
  const imported = {
    AsyncBatchedStore,
    BaseChatModel,
    BaseTracer,
    CallbackManager,
    CompiledStateGraph,
    StructuredTool,
  };
  if (!adopt(imported)) throw new UnsupportedError(unsupported);
  for (const module of Object.values(require.cache)) {
    if (module?.filename.includes('@langchain')) adoptRequired(module.exports);
  }
  subscribe('tracing:module.require:end', (message) => {
    const { id, result } = message as { id: string; result: unknown };
    if (id.startsWith('@langchain/')) adoptRequired(result);
  });
  addLasting((error) => LASTING.has((error as Error).name));
  addPlaces(placeInGraph);
  instrumentIds();
}

function adoptRequired(exports: unknown): void {
  if (!adopt(exports)) process.emitWarning(unsupported);
}

/** Takes in the classes among what a module exports. @returns whether they are as they should be */
function adopt(exports: unknown): boolean {
  const classes = (exports ?? {}) as Record<string, { prototype: never } | undefined>;
  return Object.entries(INSTRUMENTS).every(([name, instrumentClass]) => {
    const found = classes[name];
    return !found || instrumentClass(found.prototype);
  });
}
