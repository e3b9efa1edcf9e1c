/**
 * What a tool or a node returns, as it is recorded and given again: also messages, and commands to the graph. Data is never
 * taken for one of those, whatever it looks like: they are made again only where they were.
 */
import { load } from '@langchain/core/load';
import { Command, isCommand, Send } from '@langchain/langgraph';
import { assertRecordable } from '../../src/loop/recordable.ts';

/** What it is that stands in a place of a result. */
type Kind = 'serializable' | 'command' | 'send' | 'of state';
type Path = readonly (string | number)[];
interface Place {
  path: Path;
  is: Kind;
}

/** Plain data is recorded as it is, but for objects that could be taken for one of these. */
type Recorded =
  | { $langchain: 'value'; value: unknown }
  /** As JSON, and where in it what was no plain data: what is within others comes later. */
  | { $langchain: 'objects'; value: unknown; places: Place[] };

/** Stands for a message of the state that the tool was called with: a handoff returns the whole conversation. */
type OfState = readonly [field: string, index: number];

/** @returns what is recorded: of the fields of an object only the adapter's own records have `$langchain` */
export async function recordedResult(result: unknown, state: unknown): Promise<unknown> {
  const given = isGenerator(result) ? await returned(result) : result;
  if (given === undefined) return undefined;
  assertRecordable(given, 'The result of a tool');
  const { value, places } = plainWithPlaces(given, messagesIn(state));
  if (places.length > 0) return { $langchain: 'objects', value, places } satisfies Recorded;
  return isOwnRecord(value) ? ({ $langchain: 'value', value } satisfies Recorded) : value;
}

/** The result again, for a tool that is called with the same state. */
export async function revivedResult(recorded: unknown, state: unknown): Promise<unknown> {
  if (!isOwnRecord(recorded)) return recorded;
  const own = recorded as Recorded;
  if (own.$langchain === 'value') return own.value;
  const whole = { value: own.value };
  for (const { path, is } of own.places.toReversed()) {
    const [last, ...to] = ['value', ...path].toReversed() as [string | number, ...string[]];
    const holder = to.toReversed().reduce((of, field) => of[field] as Fields, whole as Fields);
    holder[last] = await revived(holder[last] as Fields, is, state);
  }
  return whole.value;
}

/** Whether it is a record of the adapter's, and no result as it was. */
export function isOwnRecord(recorded: unknown): recorded is { $langchain: unknown } {
  return isObject(recorded) && !Array.isArray(recorded) && Object.hasOwn(recorded, '$langchain');
}

type Fields = Record<string | number, unknown>;

function plainWithPlaces(
  given: unknown,
  ofState: ReadonlyMap<object, OfState>,
): { value: unknown; places: Place[] } {
  const places: Place[] = [];
  /** Of each object that JSON is made of where that is; of what LangChain makes JSON of by itself nothing. */
  const whole = { value: given };
  const paths = new Map<unknown, Path>([[whole, []]]);
  const json = JSON.stringify(whole, function (this: Fields, field, plain: unknown) {
    const original = this[field];
    if (!isObject(original) || original === whole) return plain;
    const within = paths.get(this);
    if (!within) {
      // It may have been met elsewhere, too.
      paths.delete(plain);
      return plain;
    }
    const path = [...within, Array.isArray(this) ? Number(field) : field];
    const is = ofState.has(original) ? 'of state' : kindOf(original);
    if (is) places.push({ path: path.slice(1), is });
    if (is === 'of state') return { 'of state': ofState.get(original) };
    if (is === 'serializable') return plain;
    // A command's own JSON does not say which graph it is for.
    const own = is === 'command' ? { ...(plain as object), graph: original['graph'] } : plain;
    paths.set(own, path);
    return own;
  });
  return { value: (JSON.parse(json) as { value?: unknown }).value, places };
}

function kindOf(original: Fields): Kind | undefined {
  if (isPlainData(original)) return undefined;
  if (isCommand(original)) return 'command';
  if (original['lg_name'] === 'Send') return 'send';
  return isSerializable(original) ? 'serializable' : undefined;
}

async function revived(plain: Fields, is: Kind, state: unknown): Promise<unknown> {
  if (is === 'command') return new Command(plain);
  if (is === 'send') return new Send(plain['node'] as string, plain['args'], plain);
  if (is === 'serializable') return await load(JSON.stringify(plain), { maxDepth: Infinity });
  const [field, index] = plain['of state'] as OfState;
  return (state as Record<string, unknown[]>)[field]?.[index];
}

/** Where the messages of a state are in it. */
function messagesIn(state: unknown): Map<object, OfState> {
  const lists = Object.entries(isObject(state) ? state : {}).filter(([, list]) => Array.isArray(list));
  return new Map(
    lists.flatMap(([field, list]) =>
      [...(list as unknown[]).entries()]
        .filter(([, message]) => isObject(message) && isSerializable(message))
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

/** Its own JSON says of what class it is, and has what of it is data escaped. */
function isSerializable(value: Fields): boolean {
  return !isPlainData(value) && value['lc_serializable'] === true && typeof value['toJSON'] === 'function';
}

function isPlainData(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
