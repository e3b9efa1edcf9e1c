import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';

/** Pause between two tries, in milliseconds. */
const pauseMs = 25;
/** Longest time for one try, in milliseconds. */
const tryTimeoutMs = 2_000;

/** Resolves once the server at `address` describes the namespace, that is: once it can do work there. */
export async function awaitReady(address: string, namespace: string, signal: AbortSignal): Promise<void> {
  const connection = Connection.lazy({
    address,
    // The client's own pauses between connects grow from one second: a server is up in a fifth of that.
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': pauseMs,
      'grpc.min_reconnect_backoff_ms': pauseMs,
      'grpc.max_reconnect_backoff_ms': pauseMs,
    },
    interceptors: [],
  });
  try {
    for (;;) {
      signal.throwIfAborted();
      try {
        const deadline = Date.now() + tryTimeoutMs;
        await connection.withDeadline(deadline, () =>
          connection.workflowService.describeNamespace({ namespace }),
        );
        return;
      } catch {
        await delay(pauseMs, undefined, { signal });
      }
    }
  } finally {
    await connection.close();
  }
}
