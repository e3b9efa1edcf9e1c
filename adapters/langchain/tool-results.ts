/** What a tool returns, as it is recorded and given again: also messages, and commands to the graph. */
import { load } from '@langchain/core/load';
import { Command, isCommand, Send } from '@langchain/langgraph';
import { assertRecordable } from '../../src/loop/recordable.ts';

/** What LangChain's own serialization has made of a result. */
interface Serialized {
  $langchain: 'serialized';
  value: unknown;
}

/** Stands for a message of the state that the tool was called with: a handoff returns the whole conversation. */
interface OfState {
  $langchain: 'of state';
  at: readonly [field: string, index: number];
}

/** Plain data as it is; anything of LangChain's own as its JSON. */
export async function recordedResult(result: unknown, state: unknown): Promise<unknown> {
  const value = isGenerator(result) ? await returned(result) : result;
  if (value === undefined) return undefined;
  assertRecordable(value, 'The result of a tool');
  if (!hasOwnClass(value)) return value;
  const places = placesIn(state);
  const json = JSON.stringify(value, function (this: Record<string, unknown>, field, plain: unknown) {
    const original = this[field];
    if (!isObject(original)) return plain;
    const at = places.get(original);
    if (at) return { $langchain: 'of state', at } satisfies OfState;
    // A command's own JSON does not say which graph it is for.
    return isCommand(original) ? { ...(plain as object), graph: original.graph } : plain;
  });
  return { $langchain: 'serialized', value: JSON.parse(json) } satisfies Serialized;
}

/** The result again, for a tool that is called with the same state. */
export async function revivedResult(recorded: unknown, state: unknown): Promise<unknown> {
  const { $langchain: kind, value } = (recorded ?? {}) as Partial<Serialized>;
  return kind === 'serialized' ? revived(await load(JSON.stringify(value)), state) : recorded;
}

function placesIn(state: unknown): Map<object, OfState['at']> {
  const lists = Object.entries(isObject(state) ? state : {}).filter(([, list]) => Array.isArray(list));
  return new Map(
    lists.flatMap(([field, list]) =>
      [...(list as unknown[]).entries()]
        .filter(([, message]) => isObject(message) && message['lc_serializable'] === true)
        .map(([index, message]) => [message as object, [field, index] as const] as const),
    ),
  );
}

/** What a generator yields are events; its result is what it returns. */
async function returned(generator: AsyncGenerator<unknown, unknown>): Promise<unknown> {
  for (;;) {
    const { done, value } = await generator.next();
    if (done) return value;
  }
}

function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  return isObject(value) && typeof value['next'] === 'function' && Symbol.asyncIterator in value;
}

function hasOwnClass(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasOwnClass);
  if (!isObject(value)) return false;
  return isCommand(value) || value['lc_serializable'] === true || Object.values(value).some(hasOwnClass);
}

/** LangChain's loader gives messages their class, but not what LangGraph added. */
function revived(value: unknown, state: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => revived(each, state));
  if (!isObject(value) || value['lc_serializable'] === true) return value;
  if (value['$langchain'] === 'of state') {
    const [field, index] = (value as unknown as OfState).at;
    return (state as Record<string, unknown[]>)[field]?.[index];
  }
  const entries = Object.entries(value).map(([field, inner]) => [field, revived(inner, state)]);
  const own = Object.fromEntries(entries) as Record<string, unknown>;
  if (own['lg_name'] === 'Command') return new Command(own);
  if (own['lg_name'] === 'Send') return new Send(own['node'] as string, own['args'], own);
  return own;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
