import { MemoryPathError } from '../errors/index.ts';

const MAX_KEY_CHARS = 1_000;
const MAX_PATH_CHARS = 500;
/** Forks add to it, and so do the paths beside a conversation. */
const MAX_ID_CHARS = 300;
const FORK = /~[0-9a-f]{16}$/;

/** Refuses a key that cannot be told from others. @throws MemoryPathError */
export function assertMemoryKey(key: unknown): asserts key is string {
  const why = whyNoKey(key);
  if (why !== undefined) throw new MemoryPathError(`Cannot use memory of key ${shown(key)}: it ${why}.`);
}

/** Refuses a path that is surely a mistake, or an attempt to leave the key. @throws MemoryPathError */
export function assertMemoryPath(path: unknown): asserts path is string {
  const why = whyNoPath(path);
  if (why !== undefined) {
    throw new MemoryPathError(
      `Cannot use memory at path ${shown(path)}: it ${why}. Use one such as notes/2026/plan.txt.`,
    );
  }
}

/** Refuses what cannot be part of a path. @throws MemoryPathError */
export function assertConversationId(id: unknown): asserts id is string {
  const why = whyNoPath(id) ?? whyTooLong(id as string);
  if (why !== undefined) throw new MemoryPathError(`Cannot use conversation ${shown(id)}: it ${why}.`);
}

/** The id of a fork; forks of a fork are no longer than it. */
export function forkId(id: string, hash: string): string {
  return `${id.replace(FORK, '')}~${hash.slice(0, 16)}`;
}

/** A name of anything as one part of a path. */
export function segment(name: string): string {
  return encodeURIComponent(name).replaceAll('.', '%2E');
}

function whyTooLong(id: string): string | undefined {
  const { length } = id.replace(FORK, '');
  return length > MAX_ID_CHARS ? `has ${length} characters; the limit is ${MAX_ID_CHARS}` : undefined;
}

function whyNoKey(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'is no text';
  if (key === '') return 'is empty';
  if (key.length > MAX_KEY_CHARS) return `has ${key.length} characters; the limit is ${MAX_KEY_CHARS}`;
  if (!key.isWellFormed()) return 'has half a character in it';
  return undefined;
}

function whyNoPath(path: unknown): string | undefined {
  if (typeof path !== 'string') return 'is no text';
  if (path === '') return 'is empty';
  if (path.length > MAX_PATH_CHARS) return `has ${path.length} characters; the limit is ${MAX_PATH_CHARS}`;
  if (!path.isWellFormed()) return 'has half a character in it';
  if (path.normalize('NFC') !== path) return 'is not in Unicode form NFC; use path.normalize()';
  if (/\p{Cc}/u.test(path)) return 'has a control character in it';
  if (path.includes('\\')) return 'has a backslash in it';
  if (path.startsWith('/')) return 'begins with a slash';
  const segments = path.split('/');
  if (segments.includes('')) return 'has an empty part';
  if (segments.includes('.') || segments.includes('..')) return 'has "." or ".." as a part';
  return undefined;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : typeof value;
}
