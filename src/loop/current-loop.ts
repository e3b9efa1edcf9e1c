import { AsyncLocalStorage } from 'node:async_hooks';
import type { Loop } from './loop.ts';

/** Where the running code stands: in which loop, under which step, and whether it is shielded from cancellation. */
export interface LoopPosition {
  loop: Loop;
  /** Key of the step in which steps are asked now; empty at the top. */
  scope: string;
  shielded: boolean;
}

const storage = new AsyncLocalStorage<LoopPosition>();
/** Context as it was when this module was loaded: nothing of an activity in it. */
const clean = AsyncLocalStorage.snapshot();

/** The position of the running code, or `undefined` outside a run. */
export function currentPosition(): LoopPosition | undefined {
  return storage.getStore();
}

/**
 * Runs an agent's code at the top of its loop. Apart from the activity that builds the loop: else the loop would keep
 * that activity and all it was given alive, and see its context.
 */
export function runAtTop(loop: Loop, body: () => void): void {
  clean(() => storage.run({ loop, scope: '', shielded: false }, body));
}

/** Runs code whose steps belong to a step of the framework's own, such as a call of an agent as a tool. */
export function runInScope<T>(scope: string, body: () => T): T {
  const position = storage.getStore();
  return position ? storage.run({ ...position, scope }, body) : body();
}

/**
 * Runs code whose steps go on although the run is cancelled: clean-up.
 * Outside a run it just runs.
 */
export function nonCancellable<T>(body: () => T): T {
  const position = storage.getStore();
  return position ? storage.run({ ...position, shielded: true }, body) : body();
}

const inBody = new AsyncLocalStorage<true>();

/** Runs code at a position that was left: what the body of a step starts that is no part of that step. */
export function runAt<T>(position: LoopPosition, body: () => T): T {
  return storage.run(position, () => inBody.exit(body));
}

/** Runs the body of a step outside any loop: what it calls are plain calls, and part of that step. */
export function runOutside<T>(body: () => T): T {
  return storage.exit(() => inBody.run(true, body));
}

/** Whether the running code is the body of a step, which is durable as a whole. */
export function insideBody(): boolean {
  return inBody.getStore() === true;
}
