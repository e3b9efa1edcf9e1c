/** LangGraph's store in memory, of which each loop has its own: what another run puts into it, or an earlier loop did, is not there. */
import type { BaseStore, Operation } from '@langchain/langgraph';
import { UnsupportedError } from '../../src/errors/index.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import type { Loop } from '../../src/loop/loop.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import { currentBody } from './step-body.ts';

interface InMemoryStore extends BaseStore {
  data: Map<string, Map<string, unknown>>;
  vectors: Map<string, Map<string, Map<string, unknown>>>;
}

const twins = perLoop(() => new WeakMap<object, InMemoryStore>());

export function isInMemoryStore(store: unknown): store is InMemoryStore {
  const { data, vectors } = (store ?? {}) as Partial<InMemoryStore>;
  return data instanceof Map && vectors instanceof Map;
}

/**
 * One use of such a store by a graph of a run; `undefined`: the code is not part of one.
 * @throws UnsupportedError for a put in the body of a step, which is not run again
 */
export function useInLoop(store: InMemoryStore, operation: Operation): Promise<unknown> | undefined {
  const body = currentBody();
  const { loop } = currentPosition() ?? body?.position ?? {};
  if (!loop) return undefined;
  if (body && 'value' in operation)
    throw new UnsupportedError(
      'Cannot put an item into an InMemoryStore in the body of a tool: it would be gone after a restart, as the tool is not run again. Use MemoryItemStore of temporal-agents/langgraph, or put it in a node.',
    );
  return twinOf(store, loop)
    .batch([operation])
    .then(([result]) => result);
}

/** As it was when the loop first used it. */
function twinOf(store: InMemoryStore, loop: Loop): InMemoryStore {
  const mine = twins(loop);
  const twin = mine.get(store) ?? copyOf(store);
  mine.set(store, twin);
  return twin;
}

function copyOf(store: InMemoryStore): InMemoryStore {
  const data = new Map([...store.data].map(([namespace, items]) => [namespace, new Map(items)]));
  const vectors = new Map(
    [...store.vectors].map(([namespace, keys]) => [
      namespace,
      new Map([...keys].map(([key, paths]) => [key, new Map(paths)])),
    ]),
  );
  return Object.assign(Object.create(Object.getPrototypeOf(store) as object) as InMemoryStore, store, {
    data,
    vectors,
  });
}
