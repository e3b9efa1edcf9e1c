/** A stream of a graph that goes on by itself after each stop. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { IterableReadableStream } from '@langchain/core/utils/stream';

/** What LangGraph gives from one start of a graph to where it stops. */
export type Round = AsyncIterator<unknown>;

interface Rounds {
  first: Round;
  /** @param left when nobody reads any longer; then what it waits for is no matter */
  next: (left: AbortSignal) => Promise<Round | undefined>;
  /** Called once. */
  end: (failed: boolean) => Promise<unknown>;
}

/** As much of a stream's own as it needs. */
interface Controller {
  enqueue(part: unknown): void;
  close(): void;
}

/**
 * All rounds as one stream. Nothing is read before somebody reads it: whoever leaves after a part has not asked for what
 * comes then, and does not wait for it.
 */
export function streamOfRounds({ first, next, end }: Rounds): IterableReadableStream<unknown> {
  const inContext = AsyncLocalStorage.snapshot();
  const left = new AbortController();
  const isLeft = new Promise<undefined>((resolve) => {
    left.signal.addEventListener('abort', () => resolve(undefined));
  });
  const begin = async () => {
    const begun = await inContext(next, left.signal);
    // It may have been left while that began.
    if (left.signal.aborted) await begun?.return?.();
    return begun;
  };
  let round = first;
  const read = async (): Promise<IteratorResult<unknown>> => {
    const part = await round.next();
    if (!part.done || left.signal.aborted) return part;
    const then = await Promise.race([begin(), isLeft]);
    if (!then) return part;
    round = then;
    return await read();
  };
  const source = {
    pull: async (controller: Controller) => {
      try {
        const { done, value } = await read();
        if (left.signal.aborted) return;
        if (!done) return controller.enqueue(value);
        await inContext(end, false);
        controller.close();
      } catch (error) {
        if (left.signal.aborted) return;
        await inContext(end, true).catch(() => {});
        throw error;
      }
    },
    // What the graph says when it is stopped is for nobody.
    cancel: async (reason: unknown) => {
      left.abort(reason);
      await Promise.resolve(round.return?.()).catch(() => {});
      await inContext(end, false);
    },
  };
  return new IterableReadableStream(source, { highWaterMark: 0 });
}
