/** Patches each copy of LangChain once, where the copy is. Outside a run, what is patched does what it did. */
import { CallbackManager } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { StructuredTool } from '@langchain/core/tools';
import { BaseTracer } from '@langchain/core/tracers/base';
import { AsyncBatchedStore, CompiledStateGraph } from '@langchain/langgraph';
import { addLasting } from '../../src/errors/failure.ts';
import { addPlaces } from '../../src/loop/places.ts';
import { instrumentEachCopy } from '../each-copy.ts';
import { dependency, others } from './dependencies.ts';
import { instrumentGraph } from './graph-run.ts';
import { instrumentBatches } from './item-store.ts';
import { instrumentModels } from './model.ts';
import { placeInGraph } from './graph-config.ts';
import { instrumentChance } from './stable-chance.ts';
import { instrumentTools } from './tools.ts';
import { instrumentCallbacks, instrumentTracers } from './tracing.ts';

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

export function instrument(): void {
  const framework = { title: 'LangChain', packages: '@langchain', supported: [dependency, ...others] };
  const imported = {
    AsyncBatchedStore,
    BaseChatModel,
    BaseTracer,
    CallbackManager,
    CompiledStateGraph,
    StructuredTool,
  };
  instrumentEachCopy(framework, imported, instrumentClasses);
  addLasting((error) => LASTING.has((error as Error).name));
  addPlaces(placeInGraph);
  instrumentChance();
}

/** Takes in the classes among what a module exports. @returns whether they are as they should be */
function instrumentClasses(exports: object): boolean {
  const classes = exports as Record<string, { prototype: never } | undefined>;
  return Object.entries(INSTRUMENTS).every(([name, instrumentClass]) => {
    const found = classes[name];
    return !found || instrumentClass(found.prototype);
  });
}
