/** Notices that this whole process stood still: stopped, or its machine suspended. */
import { Worker } from 'node:worker_threads';

/** How often the second thread shows that it lives, in milliseconds. */
const TICK = 100;
/**
 * How long after a freeze what was in flight is not trusted, in milliseconds: the server's next task is here at once if
 * it was given out meanwhile. At most a quarter of the task timeout, or that next task would time out as well.
 */
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

/**
 * A workflow task that timed out while its process was frozen is followed by another one. If a local activity of the
 * first is still running when that comes to the same process, Core (SDK 1.24, `buffer_wft_if_outstanding_work`) puts it
 * on top of state that the history does not have; a replay then cannot follow. So what was in flight at such a freeze is
 * held until the next task is here, and then answers only that its loop is lost, which means the same in either order.
 */
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

  /**
   * How many milliseconds more to hold what began at `since`; 0 if no freeze touches it that was long enough for a
   * workflow task to have timed out, with some reserve.
   */
  hold(since: number, taskTimeoutMs: number): number {
    const now = Date.now();
    // The process may run again before the other thread has ticked.
    const silent = now - this.#clock[TICKED]!;
    const [endedAt, length] =
      silent >= taskTimeoutMs / 2 ? [now, silent] : [this.#clock[ENDED]!, this.#clock[LENGTH]!];
    const settle = Math.min(SETTLE, taskTimeoutMs / 4);
    return length >= taskTimeoutMs / 2 && endedAt + settle > since ? Math.max(1, endedAt + settle - now) : 0;
  }
}
