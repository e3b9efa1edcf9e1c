/** Notices that this process stood still: stopped, its machine suspended, or its event loop blocked. */

const TICK = 100;
/**
 * How long after a freeze what was in flight is not trusted, in milliseconds: the server's next task is here at once if
 * it was given out meanwhile. At most a quarter of the task timeout, or that next task would time out as well.
 */
const SETTLE = 2_000;

interface Freeze {
  length: number;
  endedAt: number;
}

/**
 * A workflow task that timed out while its process was frozen is followed by another one. If a local activity of the
 * first is still running when that comes to the same process, Core (SDK 1.24, `buffer_wft_if_outstanding_work`) puts it
 * on top of state that the history does not have; a replay then cannot follow. So what was in flight at such a freeze is
 * held until the next task is here, and then answers only that its loop is lost, which means the same in either order.
 */
export class FreezeMonitor {
  #last = Date.now();
  #freezes: Freeze[] = [];
  readonly #timer = setInterval(() => this.#look(), TICK);

  constructor() {
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * How many milliseconds more to hold what began at `since`; 0 if no freeze touches it that was long enough for a
   * workflow task to have timed out, with some reserve.
   */
  hold(since: number, taskTimeoutMs: number): number {
    this.#look();
    const settle = Math.min(SETTLE, taskTimeoutMs / 4);
    const last = this.#freezes.findLast(
      (freeze) => freeze.length >= taskTimeoutMs / 2 && freeze.endedAt + settle > since,
    );
    return last ? Math.max(1, last.endedAt + settle - this.#last) : 0;
  }

  #look(): void {
    const now = Date.now();
    const length = now - this.#last - TICK;
    this.#last = now;
    this.#freezes = this.#freezes.filter((freeze) => now - freeze.endedAt < 60_000);
    if (length > TICK) this.#freezes.push({ length, endedAt: now });
  }
}
