/** Contents as they are kept and hashed. */
import canonicalize from 'canonicalize';
import { sha256 } from '../blobs/sha256.ts';
import { NotRecordableError, PayloadTooLargeError } from '../errors/index.ts';
import { MAX_MEMORY_BYTES } from '../protocol/limits.ts';
import { whatJsonChanges } from './exact-json.ts';

/** A text that can be written, with what its version says of it. */
export interface Content {
  text: string;
  sha256: string;
  bytes: number;
}

/** @throws NotRecordableError if JSON would change the value; PayloadTooLargeError */
export function jsonContent(path: string, value: unknown): Content {
  const changed = whatJsonChanges(value);
  if (changed !== undefined)
    throw new NotRecordableError(
      `Cannot write ${path}: ${changed}, which JSON would change. Write plain JSON, such as a text of it.`,
    );
  return content(path, canonicalize(value)!);
}

/** @throws NotRecordableError if UTF-8 would change the text; PayloadTooLargeError */
export function textContent(path: string, text: string): Content {
  if (typeof text !== 'string' || !text.isWellFormed())
    throw new NotRecordableError(`Cannot write ${path}: it is no text, or has half a character in it.`);
  return content(path, text);
}

/** @throws NotRecordableError if it was written as a text that is no JSON */
export function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NotRecordableError(`Cannot read ${path} as JSON: it was written as a text. Use readText.`, {
      cause: error,
    });
  }
}

function content(path: string, text: string): Content {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_MEMORY_BYTES) {
    throw new PayloadTooLargeError(
      `Cannot write ${path}: it has ${bytes} bytes; the limit for one content is ${MAX_MEMORY_BYTES}, half of what Temporal's server takes as one payload, so that a run can record what it reads. Keep it in several paths.`,
    );
  }
  return { text, sha256: sha256(text), bytes };
}
