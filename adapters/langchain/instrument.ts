/** Patches each copy of LangChain once, where the copy is. Outside a run, what is patched does what it did. */
import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { StructuredTool } from '@langchain/core/tools';
import { AsyncBatchedStore, CompiledStateGraph } from '@langchain/langgraph';
import { addLasting } from '../../src/errors/failure.ts';
import { UnsupportedError } from '../../src/errors/index.ts';
import { insideRun } from '../../src/loop/ask.ts';
import { addPlaces } from '../../src/loop/places.ts';
import { patchMethod } from '../patch-method.ts';
import { dependency, others } from './dependencies.ts';
import { instrumentGraph } from './graph-run.ts';
import { MemoryItemStore } from './item-store.ts';
import { instrumentModel } from './model.ts';
import { placeInGraph } from './place.ts';
import { instrumentIds } from './stable-ids.ts';
import { instrumentTool } from './tools.ts';
import type { Model } from './turn-request.ts';

interface Classes {
  BaseChatModel: { prototype: object };
  StructuredTool: { prototype: object };
  /** Its methods are those of every compiled graph. */
  CompiledStateGraph: { prototype: object };
  /** Through it a graph uses its store. */
  AsyncBatchedStore: { prototype: object };
}

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

/** Instruments the copy that modules import, and each that was or will be loaded by `require`. */
export function instrument(): void {
  if (!instrumentClasses({ BaseChatModel, StructuredTool, CompiledStateGraph, AsyncBatchedStore }))
    throw new UnsupportedError(unsupported);
  for (const module of Object.values(require.cache)) {
    if (module?.filename.includes('@langchain')) adopt(module.exports);
  }
  subscribe('tracing:module.require:end', (message) => {
    const { id, result } = message as { id: string; result: unknown };
    if (id.startsWith('@langchain/')) adopt(result);
  });
  addLasting((error) => LASTING.has((error as Error).name));
  addPlaces(placeInGraph);
  instrumentIds();
}

/** Every call of a model, and of a tool, comes through one of these before it comes to what differs between them. */
function instrumentClasses(classes: Partial<Classes>): boolean {
  const { BaseChatModel: model, StructuredTool: tool, CompiledStateGraph: graph } = classes;
  const { AsyncBatchedStore: store } = classes;
  const models = ['_generateUncached', '_streamIterator', 'streamEvents'].map(
    (name) =>
      !model ||
      patchMethod(model.prototype, name, (original) => {
        return function (this: object, ...args) {
          if (insideRun()) instrumentModel(this as Model, model.prototype as Model);
          return original.apply(this, args);
        };
      }),
  );
  // What the process has cached would answer in the place of a record, but not in another process.
  const cached =
    !model ||
    patchMethod(model.prototype, '_generateCached', (original) => {
      return function (this: object, asked: object) {
        const none = { lookup: async () => null };
        return original.call(this, insideRun() ? { ...asked, cache: none } : asked);
      };
    });
  const tools =
    !tool ||
    patchMethod(tool.prototype, 'call', (original) => {
      return function (this: StructuredTool, ...args) {
        if (insideRun()) instrumentTool(this);
        return original.apply(this, args);
      };
    });
  const stores =
    !store ||
    patchMethod(store.prototype, 'enqueueOperation', (original) => {
      return function (this: { store: unknown }, operation: never) {
        const { store: own } = this;
        return own instanceof MemoryItemStore ? own.only(operation) : original.call(this, operation);
      };
    });
  return [...models, cached, tools, stores, !graph || instrumentGraph(graph.prototype)].every(Boolean);
}

/** Takes in what somebody required. */
function adopt(exports: unknown): void {
  const {
    BaseChatModel: model,
    StructuredTool: tool,
    CompiledStateGraph: graph,
    AsyncBatchedStore: store,
  } = (exports ?? {}) as Partial<Classes>;
  const found = { ...(model && { BaseChatModel: model }), ...(tool && { StructuredTool: tool }) };
  if (
    !instrumentClasses({
      ...found,
      ...(graph && { CompiledStateGraph: graph }),
      ...(store && { AsyncBatchedStore: store }),
    })
  )
    process.emitWarning(unsupported);
}
