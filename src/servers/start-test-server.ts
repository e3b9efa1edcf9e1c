import { addressVariables, findServerBinary, type FindServerOptions } from './find-server-binary.ts';
import { runServer } from './run-server.ts';

/** How to run a time-skipping test server. */
export interface StartTestServerOptions extends FindServerOptions {
  /** Port of the server. @default a free one */
  port?: number;
  /** More arguments for `temporal-test-server`. @default none */
  extraArgs?: readonly string[];
  /** Longest time for the server to get ready, in milliseconds. @default 30000 */
  readyTimeoutMs?: number;
}

/** A time-skipping server to test against. Its one namespace is `default`. */
export interface TestServer {
  /** Host and port for a client or worker. */
  address: string;
  /** Process id of the server, or undefined when it is not ours. */
  pid: number | undefined;
  /** Ends the server and resolves when it is gone. Does nothing when it is not ours, or gone already. */
  stop: () => Promise<void>;
}

/**
 * A server that skips time while a test waits: the one TEMPORAL_TEST_SERVER_ADDRESS names, taken as it is, else one
 * that is started now, on a free port, and that ends with `stop()` or with this process.
 *
 * @throws {ServerNotFoundError} when there is none and none can be had
 */
export async function startTestServer(options: StartTestServerOptions = {}): Promise<TestServer> {
  const { environment = process.env, port, extraArgs = [], readyTimeoutMs = 30_000 } = options;
  const address = environment[addressVariables.test];
  if (address) {
    return { address, pid: undefined, stop: async () => {} };
  }
  const server = await runServer({
    binary: await findServerBinary('test', options),
    args: (itsPort) => [String(itsPort), '--enable-time-skipping', ...extraArgs],
    environment,
    namespace: 'default',
    port,
    readyTimeoutMs,
    stopSignal: 'SIGKILL',
  });
  return { address: server.address, pid: server.pid, stop: server.stop };
}
