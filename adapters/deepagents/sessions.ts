/**
 * Deep Agents keeps the name of the file that a summarized conversation goes to in the agent object, unless the state has
 * one: two runs of one object would share the file, and a rebuilt loop would tell the model another name.
 */
import { sha256 } from '../../src/blobs/sha256.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';

/** A field of a schema of Zod. */
interface Field {
  default(make: () => unknown): Field;
}

const NAME = '_summarizationSessionId';
const instrumented = new WeakSet<object>();

/** Has the state of each run, and of each sub-agent, begin with a name of its own. @returns whether it has such a field */
export function instrumentSessions(stateSchema: unknown): boolean {
  const { _zod: zod } = (stateSchema ?? {}) as { _zod?: { def: { shape?: Record<string, Field> } } };
  const shape = zod?.def.shape;
  const field = shape?.[NAME];
  if (!shape || typeof field?.default !== 'function') return false;
  if (!instrumented.has(shape)) shape[NAME] = field.default(sessionHere);
  instrumented.add(shape);
  return true;
}

function sessionHere(): string | undefined {
  const position = currentPosition();
  if (!position) return undefined;
  return `session_${sha256(`${position.loop.chain} ${position.scope}`).slice(0, 16)}`;
}
