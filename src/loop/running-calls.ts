/** Closures of loops that run in this process now. An attempt that comes while an earlier one still runs joins it. */
import { ApplicationFailure } from '@temporalio/common';
import { TOOK_TOO_LONG } from '../records/outcomes.ts';
import type { CallAnswer, Closure } from './step-request.ts';

/** How long a result stays for an attempt that comes late, and a call goes on that no attempt waits for. Milliseconds. */
const RESULT_STAYS = 30_000;
const UNWANTED_AFTER = 15_000;
/** A timer of Node takes no more. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface RunningCall {
  /** What it is called, and the chain of runs it belongs to. */
  readonly kind: string;
  readonly name: string;
  readonly chain: string;
  readonly result: Promise<CallAnswer>;
  readonly abort: AbortController;
  users: number;
  done: boolean;
  /** Runs from when the last attempt left. */
  unwanted?: NodeJS.Timeout;
}

type CallOf = Pick<RunningCall, 'kind' | 'name' | 'chain'>;

export class RunningCalls {
  readonly #calls = new Map<string, RunningCall>();

  /**
   * The call with this id, or a new one, which may take so many milliseconds. `undefined`: there is none, and no closure
   * to start one.
   */
  join(
    id: string,
    closure: Closure | undefined,
    limit: number,
    of: CallOf = { kind: 'step', name: '', chain: '' },
  ): RunningCall | undefined {
    const running = this.#calls.get(id) ?? (closure && this.#start(id, closure, limit, of));
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

  #start(id: string, closure: Closure, limit: number, of: CallOf): RunningCall {
    const abort = new AbortController();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        const failure = ApplicationFailure.retryable(`Timed out after ${limit} ms.`, TOOK_TOO_LONG, {
          recoverable: true,
        });
        reject(failure);
        abort.abort(failure);
        this.#forget(id, call); // the next attempt starts anew, whether this call heeds its signal or not
      },
      Math.min(limit, LONGEST_TIMER),
    );
    timer.unref();
    const result = Promise.race([(async () => await closure(abort.signal))(), late]);
    const call: RunningCall = { ...of, abort, users: 0, done: false, result };
    this.#calls.set(id, call);
    result.then(
      () => {
        clearTimeout(timer);
        call.done = true;
        setTimeout(() => this.#forget(id, call), RESULT_STAYS).unref();
      },
      () => {
        clearTimeout(timer);
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
