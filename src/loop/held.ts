/** What code of a run holds, so that others wait for it: given back while the code waits for a person. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Something that one run has at a time. */
export interface Held {
  /** What it is; the same for whoever wants it. */
  readonly of: string;
  giveBack(): Promise<void>;
  takeAgain(): Promise<void>;
}

/** How many of the waits that are under way need each. */
const waits = new WeakMap<Held, number>();
const holding = new AsyncLocalStorage<readonly Held[]>();

/** Runs code that holds something, beside what is held around it. */
export function whileHolding<T>(held: Held, body: () => T): T {
  return holding.run([...heldHere(), held], body);
}

/** What the running code holds. */
export function heldHere(): readonly Held[] {
  return holding.getStore() ?? [];
}

/** Waits for a person, with nothing held. */
export async function whileGivenBack<T>(wait: () => Promise<T>): Promise<T> {
  const all = heldHere();
  for (const held of all) {
    const before = waits.get(held) ?? 0;
    waits.set(held, before + 1);
    if (before === 0) await held.giveBack();
  }
  try {
    return await wait();
  } finally {
    for (const held of all) {
      const left = waits.get(held)! - 1;
      waits.set(held, left);
      if (left === 0) await held.takeAgain();
    }
  }
}
