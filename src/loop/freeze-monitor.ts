/** Notices that this whole process stood still: stopped, or its machine suspended. */
import { Worker } from 'node:worker_threads';

/** How often the second thread shows that it lives, in milliseconds. */
const TICK = 100;
/** How long after a freeze what begins is still doubtful, in milliseconds: tasks from before it may still come. */
const SETTLE = 2_000;

/** Slots of the shared memory: last tick, and end and length of the last freeze; wall-clock milliseconds. */
const [TICKED, ENDED, LENGTH] = [0, 1, 2] as const;

/**
 * A thread of its own, since an agent that blocks the event loop is no freeze: Core's threads go on then, and keep the
 * workflow task alive.
 */
const THREAD = `
const { workerData: clock } = require('node:worker_threads');
setInterval(() => {
  const now = Date.now();
  const length = now - clock[${TICKED}] - ${TICK};
  if (length > ${TICK * 2}) {
    clock[${LENGTH}] = now - clock[${ENDED}] < ${SETTLE} ? Math.max(length, clock[${LENGTH}]) : length;
    clock[${ENDED}] = now;
  }
  clock[${TICKED}] = now;
}, ${TICK});
`;

/** A process that stood still may hold workflow tasks that have timed out meanwhile; see `currentTask`. */
export class FreezeMonitor {
  readonly #clock = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT));
  readonly #thread: Worker;

  constructor() {
    this.#clock[TICKED] = Date.now();
    this.#thread = new Worker(THREAD, { eval: true, workerData: this.#clock, execArgv: [] });
    this.#thread.unref();
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }

  /** Whether a freeze in which a workflow task may have timed out touches what began at `since`. */
  touches(since: number, taskTimeoutMs: number): boolean {
    const now = Date.now();
    // The process may run again before the other thread has ticked.
    const silent = now - this.#clock[TICKED]!;
    const [endedAt, length] =
      silent >= taskTimeoutMs / 2 ? [now, silent] : [this.#clock[ENDED]!, this.#clock[LENGTH]!];
    return length >= taskTimeoutMs / 2 && endedAt + SETTLE > since;
  }
}
