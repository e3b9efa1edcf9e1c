/** Closures of loops that run in this process now. An attempt that comes while an earlier one still runs joins it. */
import type { CallAnswer, Closure } from './loop.ts';

/** How long a result stays for an attempt that comes late, and a call goes on that no attempt waits for. Milliseconds. */
const RESULT_STAYS = 30_000;
const UNWANTED_AFTER = 15_000;

export interface RunningCall {
  readonly result: Promise<CallAnswer>;
  readonly abort: AbortController;
  users: number;
  done: boolean;
  /** Runs from when the last attempt left. */
  unwanted?: NodeJS.Timeout;
}

export class RunningCalls {
  readonly #calls = new Map<string, RunningCall>();

  /** The call with this id, or a new one. `undefined`: there is none, and no closure to start one. */
  join(id: string, closure: Closure | undefined): RunningCall | undefined {
    const running = this.#calls.get(id) ?? (closure && this.#start(id, closure));
    if (!running) return undefined;
    running.users++;
    clearTimeout(running.unwanted);
    return running;
  }

  /** An attempt no longer waits. A call that nobody waits for any more is aborted after a while. */
  leave(id: string, call: RunningCall): void {
    call.users--;
    if (call.users > 0 || call.done) return;
    call.unwanted = setTimeout(() => {
      if (call.done) return;
      call.abort.abort(new Error('Nobody waits for this call any more.'));
      this.#forget(id, call);
    }, UNWANTED_AFTER);
    call.unwanted.unref();
  }

  /** Whether a call of this run is under way. */
  isBusy(runId: string): boolean {
    for (const [id, call] of this.#calls) if (!call.done && id.startsWith(`${runId}/`)) return true;
    return false;
  }

  abortRun(runId: string, reason: Error): void {
    for (const [id, call] of this.#calls) if (id.startsWith(`${runId}/`)) call.abort.abort(reason);
  }

  #start(id: string, closure: Closure): RunningCall {
    const abort = new AbortController();
    const result = (async () => await closure(abort.signal))();
    const call: RunningCall = { abort, users: 0, done: false, result };
    this.#calls.set(id, call);
    result.then(
      () => {
        call.done = true;
        setTimeout(() => this.#forget(id, call), RESULT_STAYS).unref();
      },
      () => {
        call.done = true;
        this.#forget(id, call); // the next attempt tries again
      },
    );
    return call;
  }

  #forget(id: string, call: RunningCall): void {
    if (this.#calls.get(id) === call) this.#calls.delete(id);
  }
}
