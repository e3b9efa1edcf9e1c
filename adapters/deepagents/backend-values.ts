/** What backends take and give, as it is recorded and compared: files may be bytes. */

/** Stands for bytes. */
interface Bytes {
  $bytes: string;
}

/** When a conversation was summarized stands in the text that is kept of it, and differs in each loop. */
const SUMMARIZED_AT = /^## Summarized at .*$/gm;

/** A result as plain JSON. */
export function plainResult(result: unknown): unknown {
  return mapped(result, (bytes) => ({ $bytes: asBuffer(bytes).toString('base64') }));
}

/** The result again. */
export function revivedResult(recorded: unknown): unknown {
  if (!isObject(recorded)) return recorded;
  if (Array.isArray(recorded)) return recorded.map(revivedResult);
  const { $bytes: bytes } = recorded as Partial<Bytes>;
  if (typeof bytes === 'string') return new Uint8Array(Buffer.from(bytes, 'base64'));
  return Object.fromEntries(Object.entries(recorded).map(([field, value]) => [field, revivedResult(value)]));
}

/** What of the arguments makes two calls the same. */
export function comparableArguments(args: unknown): unknown {
  return mapped(
    args,
    (bytes) => ({ $bytes: asBuffer(bytes).toString('latin1').replaceAll(SUMMARIZED_AT, '') }),
    (text) => text.replaceAll(SUMMARIZED_AT, ''),
  );
}

/** Which file, command or pattern a call is about, for whoever reads the run: never contents. */
export function subjectOf([first]: readonly unknown[]): unknown {
  return Array.isArray(first) ? first.map((each: unknown) => (Array.isArray(each) ? each[0] : each)) : first;
}

function mapped(
  value: unknown,
  bytes: (of: ArrayBufferView) => unknown,
  text: (of: string) => string = (same) => same,
): unknown {
  if (typeof value === 'string') return text(value);
  if (!isObject(value)) return value;
  if (ArrayBuffer.isView(value)) return bytes(value);
  if (Array.isArray(value)) return value.map((each) => mapped(each, bytes, text));
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, mapped(each, bytes, text)]));
}

function asBuffer({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
