import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** A step's request: what affects its answer, and nothing else. */
export interface Fingerprinted {
  kind: string;
  name: string;
  /** Plain data; `undefined` fields do not count, bytes count as their base64. */
  request: unknown;
  /** Key of the step in which this one is asked; empty at the top. */
  scope: string;
}

/** SHA-256 over RFC 8785 canonical JSON, cut to 96 bits: one in 10^17 that two of a million requests collide. */
export function fingerprint(step: Fingerprinted): string {
  return digest(step).slice(0, 24);
}

/** A short hash of each top-level field of a request, so that a miss can be explained: "instructions changed". */
export function fieldHashes(request: unknown): Record<string, string> {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    return { request: digest(request).slice(0, 8) };
  return Object.fromEntries(
    Object.entries(request)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [field, digest(value).slice(0, 8)]),
  );
}

/** SHA-256 of a value's canonical JSON, in hex. */
export function digest(value: unknown): string {
  const plain = jsonOf(value);
  const canonical = plain === undefined ? 'undefined' : canonicalize(JSON.parse(wellFormed(plain)));
  return createHash('sha256')
    .update(canonical ?? 'undefined')
    .digest('hex');
}

/** A value's JSON, with text of what JSON cannot hold and lists of what it would lose. */
export function jsonOf(value: unknown): string | undefined {
  return JSON.stringify(value, plainValue);
}

function plainValue(this: unknown, field: string, value: unknown): unknown {
  // What it was before its `toJSON`: a Buffer has one, other bytes have not.
  const original = (this as Record<string, unknown>)[field];
  if (typeof value === 'bigint' || value instanceof RegExp) return String(value);
  if (value instanceof Map || value instanceof Set) return [...value];
  if (ArrayBuffer.isView(original)) {
    return Buffer.from(original.buffer, original.byteOffset, original.byteLength).toString('base64');
  }
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64');
  return value;
}

/** Text cut in the middle of a character, which RFC 8785 refuses, as it goes over the wire: with U+FFFD instead. */
function wellFormed(json: string): string {
  return json.replaceAll(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (found) => (found === '\\\\' ? found : '\ufffd'));
}
