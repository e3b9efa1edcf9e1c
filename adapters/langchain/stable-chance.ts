/**
 * LangGraph gives messages random ids, by which it tells a new one from one it has. A tool may return messages it was given,
 * which are recorded with their ids; so these must be the same in each loop. Nodes and middleware choose by `Math.random()`
 * where a graph goes, and what they put in the place of a secret, which is then asked of the model.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { sha256 } from '../../src/blobs/sha256.ts';
import { insideRun } from '../../src/loop/ask.ts';
import { currentPosition, type LoopPosition } from '../../src/loop/current-loop.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import { patchMethod } from '../patch-method.ts';

const inGraph = new AsyncLocalStorage<true>();
/** By scope: a loop that goes on from a checkpoint has not counted what was before. */
const counts = perLoop(() => new Map<string, number>());

/** Runs a graph, in which `crypto.randomUUID()` and `Math.random()` give the same in each loop of a run. */
export function withStableChance<T>(body: () => T): T {
  return inGraph.run(true, body);
}

/** Instruments the process's `crypto` and `Math`; what a step does is random as ever. */
export function instrumentChance(): void {
  makeStable(globalThis.crypto, 'randomUUID', nextId);
  makeStable(Math, 'random', nextFraction);
}

function makeStable(target: object, name: string, next: (position: LoopPosition) => unknown): void {
  patchMethod(target, name, (random) => {
    return function (this: unknown, ...args) {
      return inGraph.getStore() && insideRun() ? next(currentPosition()!) : random.apply(this, args);
    };
  });
}

/** From 0 to 1, with all the bits that fit. */
function nextFraction(position: LoopPosition): number {
  return Number(nextBytes(position).readBigUInt64BE() >> 11n) / 2 ** 53;
}

/** A UUID of version 8. */
function nextId(position: LoopPosition): string {
  const bytes = nextBytes(position);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Of the chain, the scope and a number. */
function nextBytes({ loop, scope }: LoopPosition): Buffer {
  const ofLoop = counts(loop);
  const count = (ofLoop.get(scope) ?? 0) + 1;
  ofLoop.set(scope, count);
  return Buffer.from(sha256(`${loop.chain} ${scope} ${count}`), 'hex').subarray(0, 16);
}
