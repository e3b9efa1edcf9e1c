import { addressVariables, findServerBinary, type FindServerOptions } from './find-server-binary.ts';
import { freePort } from './free-port.ts';
import { runServer } from './run-server.ts';

/** How to run a dev server. */
export interface StartDevServerOptions extends FindServerOptions {
  /** Namespace to make and use. @default TEMPORAL_NAMESPACE with TEMPORAL_ADDRESS, else `default` */
  namespace?: string;
  /** Whether to serve Temporal's web page too. @default false */
  ui?: boolean;
  /** Port of the server. @default a free one */
  port?: number;
  /** File that keeps the server's state from one run to the next. @default none, all is in memory */
  dbFilename?: string;
  /** Search attributes to make, by name. @default none */
  searchAttributes?: Readonly<Record<string, SearchAttributeType>>;
  /** Settings of the server, by name, on top of the ones we always set. @default none */
  dynamicConfig?: Readonly<Record<string, string | number | boolean>>;
  /** More arguments for `temporal server start-dev`. @default none */
  extraArgs?: readonly string[];
  /** Longest time for the server to get ready, in milliseconds. @default 30000 */
  readyTimeoutMs?: number;
}

/** Types of search attributes, as the Temporal CLI names them. */
export type SearchAttributeType = 'Text' | 'Keyword' | 'Int' | 'Double' | 'Bool' | 'Datetime' | 'KeywordList';

/** A Temporal server to work with. */
export interface DevServer {
  /** Host and port for a client or worker. */
  address: string;
  namespace: string;
  /** Address of Temporal's web page, or undefined when it is not served or not ours. */
  uiUrl: string | undefined;
  /** Process id of the server, or undefined when it is not ours. */
  pid: number | undefined;
  /** Ends the server and resolves when it is gone. Does nothing when it is not ours, or gone already. */
  stop: () => Promise<void>;
}

/** The server's own limit lets about 20 runs a second start; this one is out of the way of any test or demo. */
const defaultDynamicConfig = { 'history.transferProcessorMaxPollRPS': 2000 };

/**
 * A Temporal server for development: the one TEMPORAL_ADDRESS names, taken as it is, else one that is started now,
 * on a free port, and that ends with `stop()` or with this process.
 *
 * @throws {ServerNotFoundError} when there is none and none can be had
 */
export async function startDevServer(options: StartDevServerOptions = {}): Promise<DevServer> {
  const { environment = process.env, namespace, dbFilename, readyTimeoutMs = 30_000 } = options;
  const address = environment[addressVariables.dev];
  if (address) {
    const itsNamespace = namespace ?? environment['TEMPORAL_NAMESPACE'] ?? 'default';
    return { address, namespace: itsNamespace, uiUrl: undefined, pid: undefined, stop: async () => {} };
  }
  const binary = await findServerBinary('dev', options);
  const uiPort = options.ui ? await freePort() : undefined;
  const server = await runServer({
    binary,
    args: (port) => [...devServerArguments(options, port, uiPort), ...(options.extraArgs ?? [])],
    environment,
    namespace: namespace ?? 'default',
    port: options.port,
    readyTimeoutMs,
    stopSignal: dbFilename === undefined ? 'SIGKILL' : 'SIGTERM',
  });
  return {
    address: server.address,
    namespace: namespace ?? 'default',
    uiUrl: uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`,
    pid: server.pid,
    stop: server.stop,
  };
}

function devServerArguments(
  options: StartDevServerOptions,
  port: number,
  uiPort: number | undefined,
): string[] {
  const { namespace = 'default', dbFilename, searchAttributes = {}, dynamicConfig = {} } = options;
  const settings = Object.entries({ ...defaultDynamicConfig, ...dynamicConfig });
  const address = ['--ip', '127.0.0.1', '--port', String(port)];
  return [
    'server',
    'start-dev',
    ...address,
    '--log-level',
    'error',
    '--namespace',
    namespace,
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(dbFilename === undefined ? [] : ['--db-filename', dbFilename]),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ...settings.flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${JSON.stringify(value)}`]),
  ];
}
