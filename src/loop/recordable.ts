import { NotRecordableError, PayloadTooLargeError } from '../errors/index.ts';
import { jsonBytes } from '../records/run-records.ts';

/**
 * Refuses what JSON would silently lose or cannot hold: bigints, maps, sets, bytes, and cycles; anything else becomes
 * what JSON makes of it (a `Date` its ISO text), which is also what the loop gets, live and after a restart.
 * @param what whose value it is, for the message: "The result of tool get_weather"
 * @throws NotRecordableError naming the path
 */
export function assertRecordable(value: unknown, what: string): void {
  const found = findLost(value, '', []);
  if (found) {
    throw new NotRecordableError(
      `${what} cannot be recorded: ${found.path === '' ? 'it' : `"${found.path}"`} is ${found.is}. Use plain JSON, such as ${found.instead}.`,
    );
  }
}

/** Refuses a payload that the server would not take. @throws PayloadTooLargeError */
export function assertFits(value: unknown, what: string, limit: number): void {
  if (limit === Infinity) return;
  const bytes = jsonBytes(value);
  if (bytes > limit) {
    throw new PayloadTooLargeError(
      `${what} has ${bytes} bytes; the limit for one payload is ${limit}. Give "blobs" to AgentsPlugin, and larger ones are kept there.`,
    );
  }
}

/** Whether the server takes it as one payload. */
export function fits(value: unknown, limit: number): boolean {
  return limit === Infinity || jsonBytes(value) <= limit;
}

interface Lost {
  path: string;
  is: string;
  instead: string;
}

function findLost(value: unknown, path: string, within: object[]): Lost | undefined {
  if (typeof value === 'bigint') return { path, is: 'a bigint', instead: 'its text' };
  if (typeof value === 'function') return { path, is: 'a function', instead: 'what it returns' };
  if (typeof value === 'symbol') return { path, is: 'a symbol', instead: 'its text' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof Map) return { path, is: 'a Map', instead: 'Object.fromEntries(map)' };
  if (value instanceof Set) return { path, is: 'a Set', instead: '[...set]' };
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return { path, is: 'bytes', instead: 'their base64 text' };
  if (value instanceof Promise) return { path, is: 'a promise', instead: 'what it resolves to' };
  if (within.includes(value)) return { path, is: 'a cycle', instead: 'a reference by id' };
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
  const inside = [...within, value];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [field, child] of entries) {
    // A method of an object is left out, as JSON does; inside a list it would become null.
    if (typeof child === 'function' && !Array.isArray(value)) continue;
    const step = typeof field === 'number' ? `[${field}]` : path === '' ? field : `.${field}`;
    const found = findLost(child, `${path}${step}`, inside);
    if (found) return found;
  }
  return undefined;
}
