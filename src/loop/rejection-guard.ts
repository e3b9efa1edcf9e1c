import { currentPosition } from './current-loop.ts';

let installed = false;

/**
 * Keeps an agent's failed branch that nobody awaits from ending the worker. The failure is a record, so every worker
 * that builds the loop would die of it. A rejection outside a run is treated as if this guard were not there.
 */
export function guardRejections(log: (message: string, error: unknown) => void): void {
  if (installed) return;
  installed = true;
  process.on('unhandledRejection', (reason) => {
    const position = currentPosition();
    if (position) {
      log(`A branch of the agent in run ${position.loop.runId} failed, and nothing awaits it.`, reason);
    } else if (process.listenerCount('unhandledRejection') === 1) {
      throw reason;
    }
  });
}
