/** Callbacks are code of the user's, which runs again with the recorded answers: they are told so, and traces count once. */
import type { CallbackManager } from '@langchain/core/callbacks/manager';
import type { BaseTracer } from '@langchain/core/tracers/base';
import { currentPosition, runOutside } from '../../src/loop/current-loop.ts';
import { patchMethod } from '../patch-method.ts';

/** LangChain's own, which are asked in the process what happened, as by `streamEvents`. */
const IN_PROCESS = new Set([
  'event_stream_tracer',
  'log_stream_tracer',
  'RootListenersTracer',
  'run_collector',
]);
/** What a tracer is told. */
const TOLD = [
  'handleChatModelStart',
  ...['LLM', 'Chain', 'Tool', 'Retriever'].flatMap((what) =>
    ['Start', 'End', 'Error'].map((when) => `handle${what}${when}`),
  ),
];
/** What `metadata` says of a call that an earlier loop has had the answer to. */
const REPLAYED = { replayed: true };

/** Instruments what tells callbacks of each call. */
export function instrumentCallbacks(manager: CallbackManager): boolean {
  const models = ['handleLLMStart', 'handleChatModelStart'].map((name) =>
    patchMethod(manager, name, (start) => {
      return function (this: CallbackManager, ...args) {
        return start.apply(isReplaying() ? withoutTracers(marked(this)) : this, args);
      };
    }),
  );
  const others = ['handleChainStart', 'handleToolStart', 'handleRetrieverStart'].map((name) =>
    patchMethod(manager, name, (start) => {
      return function (this: CallbackManager, ...args) {
        return start.apply(isReplaying() ? marked(this) : this, args);
      };
    }),
  );
  return [...models, ...others].every(Boolean);
}

/** Instruments tracers: what they do is not part of the run, nor what they take of chance, as the client of LangSmith does. */
export function instrumentTracers(tracer: BaseTracer): boolean {
  return TOLD.map((name) =>
    patchMethod(tracer, name, (told) => {
      return function (this: BaseTracer, ...args) {
        return IN_PROCESS.has(this.name) ? told.apply(this, args) : runOutside(() => told.apply(this, args));
      };
    }),
  ).every(Boolean);
}

function isReplaying(): boolean {
  return currentPosition()?.loop.replaying === true;
}

/** A manager is made for each call. */
function marked(manager: CallbackManager): CallbackManager {
  manager.addMetadata(REPLAYED, false);
  return manager;
}

/** Tracers add up what models cost, somewhere else. */
function withoutTracers(manager: CallbackManager): CallbackManager {
  manager.handlers = manager.handlers.filter(
    (handler) => !('_addRunToRunMap' in handler) || IN_PROCESS.has(handler.name),
  );
  return manager;
}
