/** Which server a command speaks to: the same options everywhere, and else what Temporal's own command line goes by. */
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { Command } from 'commander';

/** How long a server may take to be reached; milliseconds. */
const CONNECT_MS = 10_000;
const DEFAULT_ADDRESS = 'localhost:7233';

export interface ServerOptions {
  address?: string;
  namespace?: string;
  profile?: string;
}

/**
 * Gives a command `--address`, `--namespace` and `--profile`. What they do not say is as Temporal's configuration file and
 * environment have it: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS_…`.
 */
export function withServer(command: Command): Command {
  return command
    .option('--address <host:port>', `of the server; else TEMPORAL_ADDRESS, or ${DEFAULT_ADDRESS}`)
    .option('--namespace <name>', 'of the workflow; else TEMPORAL_NAMESPACE, or default')
    .option(
      '--profile <name>',
      "of Temporal's configuration file, for TLS and API keys; else TEMPORAL_PROFILE",
    );
}

/**
 * Connects for as long as something takes.
 * @param connectMs how long the server may take to be reached, if that is less than 10 s
 */
export async function connected<T>(
  { address, namespace, profile }: ServerOptions,
  use: (client: Client) => Promise<T>,
  connectMs = CONNECT_MS,
): Promise<T> {
  const known = loadClientConnectConfig(profile === undefined ? {} : { profile });
  const options = {
    ...known.connectionOptions,
    address: address ?? known.connectionOptions.address ?? DEFAULT_ADDRESS,
    connectTimeout: Math.min(connectMs, CONNECT_MS),
  };
  const connection = await connect(options);
  try {
    return await use(new Client({ connection, namespace: namespace ?? known.namespace ?? 'default' }));
  } finally {
    await connection.close();
  }
}

async function connect(
  options: Parameters<typeof Connection.connect>[0] & { address: string },
): Promise<Connection> {
  try {
    return await Connection.connect(options);
  } catch (error) {
    const why = (error as Error).message.split('\n', 1)[0];
    throw new Error(
      `Cannot reach a Temporal server at ${options.address}: ${why}. Say where it is with --address, or with --profile.`,
      { cause: error },
    );
  }
}
