/**
 * LangGraph gives messages random ids, by which it tells a new one from one it has. A tool may return messages it was given,
 * which are recorded with their ids; so these must be the same in each loop.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { insideRun } from '../../src/loop/ask.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import type { Loop } from '../../src/loop/loop.ts';
import { patchMethod } from '../patch-method.ts';

const inGraph = new AsyncLocalStorage<true>();
const counts = new WeakMap<Loop, number>();

/** Runs a graph, in which `crypto.randomUUID()` gives the same in each loop of a run. */
export function withStableIds<T>(body: () => T): T {
  return inGraph.run(true, body);
}

/** Instruments the process's `crypto`; what a step does is random as ever. */
export function instrumentIds(): void {
  patchMethod(globalThis.crypto, 'randomUUID', (randomUuid) => {
    return function (this: unknown, ...args) {
      return inGraph.getStore() && insideRun()
        ? nextId(currentPosition()!.loop)
        : randomUuid.apply(this, args);
    };
  });
}

/** A UUID of version 8, of the chain and a number. */
function nextId(loop: Loop): string {
  const count = (counts.get(loop) ?? 0) + 1;
  counts.set(loop, count);
  const bytes = createHash('sha256').update(`${loop.chain} ${count}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
