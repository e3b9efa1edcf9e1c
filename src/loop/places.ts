/**
 * Some frameworks run code again from its beginning in the same loop, such as a node that was interrupted, and mean the
 * answers that it had. They say where the running code is, and what is asked there again has the answer from before.
 */
import type { LoopPosition } from './current-loop.ts';
import { fingerprint } from './fingerprint.ts';
import { perLoop } from './per-loop.ts';

/** Where in its framework the running code is. */
export interface Place {
  /** The same when the code is run again. */
  name: string;
  /** Another object each time it is run. */
  execution: object;
}

const finders = new Set<() => Place | undefined>();
const counts = new WeakMap<object, Map<string, number>>();
const known = perLoop(() => new Map<string, unknown>());

/** Has a framework say where the running code is; `undefined`: not in a place of its own. */
export function addPlaces(find: () => Place | undefined): void {
  finders.add(find);
}

/**
 * What `make` answers; for the same request, asked as the so-many-th again in the same place, what it answered before.
 * @param make is told whether its answer is kept, to be given to code that runs again
 */
export function oncePerPlace<T>(
  { loop, scope }: LoopPosition,
  { kind, name, request }: { kind: string; name: string; request: unknown },
  make: (kept: boolean) => T,
): T {
  const place = placeOf();
  if (!place) return make(false);
  const print = fingerprint({ kind, name, request, scope });
  const inExecution = counts.get(place.execution) ?? new Map<string, number>();
  counts.set(place.execution, inExecution);
  const index = inExecution.get(print) ?? 0;
  inExecution.set(print, index + 1);
  const answers = known(loop);
  const key = `${print} ${index} ${place.name}`;
  if (!answers.has(key)) answers.set(key, make(true));
  return answers.get(key) as T;
}

function placeOf(): Place | undefined {
  for (const find of finders) {
    const place = find();
    if (place) return place;
  }
  return undefined;
}
