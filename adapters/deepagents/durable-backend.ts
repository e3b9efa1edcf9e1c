import { UnsupportedError } from '../../src/errors/index.ts';
import { isKnown, recordBackend } from './backends.ts';

/**
 * Has what a backend of your own does recorded: its class is instrumented, or the object if the methods are its own. Those
 * of Deep Agents, and classes that extend one, need no such call. Outside a run the backend does what it did.
 * @returns the same backend
 * @throws UnsupportedError if its methods cannot be replaced, since it is frozen
 */
export function durableBackend<B>(backend: B): B {
  if (typeof backend !== 'object' || backend === null) return backend;
  if (backend instanceof Promise) return backend.then(durableBackend) as B;
  if (isKnown(backend)) return backend;
  try {
    recordBackend(backend);
  } catch (error) {
    throw new UnsupportedError(
      `Cannot record what the backend does: its methods cannot be replaced (${(error as Error).message}). Do not freeze it.`,
    );
  }
  return backend;
}
