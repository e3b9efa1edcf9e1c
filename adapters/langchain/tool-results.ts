/** What a tool returns, as it is recorded and given again: also messages, and commands to the graph. */
import { load } from '@langchain/core/load';
import { Command, isCommand, Send } from '@langchain/langgraph';
import { assertRecordable } from '../../src/loop/recordable.ts';

/** What LangChain's own serialization has made of a result. */
interface Serialized {
  $langchain: 'serialized';
  value: unknown;
}

/** Plain data as it is; anything of LangChain's own as its JSON. */
export async function recordedResult(result: unknown): Promise<unknown> {
  const value = isGenerator(result) ? await returned(result) : result;
  if (value === undefined) return undefined;
  assertRecordable(value, 'The result of a tool');
  if (!hasOwnClass(value)) return value;
  return {
    $langchain: 'serialized',
    value: JSON.parse(JSON.stringify(value, withGraph)),
  } satisfies Serialized;
}

/** The result again. */
export async function revivedResult(recorded: unknown): Promise<unknown> {
  const { $langchain: kind, value } = (recorded ?? {}) as Partial<Serialized>;
  return kind === 'serialized' ? withCommands(await load(JSON.stringify(value))) : recorded;
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

/** A command's own JSON does not say which graph it is for. */
function withGraph(this: Record<string, unknown>, field: string, json: unknown): unknown {
  const original = this[field];
  return isObject(original) && isCommand(original) ? { ...(json as object), graph: original.graph } : json;
}

function hasOwnClass(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasOwnClass);
  if (!isObject(value)) return false;
  return isCommand(value) || value['lc_serializable'] === true || Object.values(value).some(hasOwnClass);
}

/** LangChain's loader gives messages their class, but not what LangGraph added. */
function withCommands(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCommands);
  if (!isObject(value) || value['lc_serializable'] === true) return value;
  const own = Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, withCommands(inner)]));
  if (own['lg_name'] === 'Command') return new Command(own);
  if (own['lg_name'] === 'Send') return new Send(own['node'] as string, own['args'], own);
  return own;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
