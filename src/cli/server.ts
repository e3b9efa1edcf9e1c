/** Which server a command speaks to: the same options everywhere. */
import { Client, Connection } from '@temporalio/client';
import type { Command } from 'commander';

/** How long a server may take to be reached; milliseconds. */
const CONNECT_MS = 10_000;

export interface ServerOptions {
  address: string;
  namespace: string;
}

/** Gives a command `--address` and `--namespace`, which `TEMPORAL_ADDRESS` and `TEMPORAL_NAMESPACE` stand in for. */
export function withServer(command: Command): Command {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = process.env;
  return command
    .option('--address <host:port>', 'of the server', address ?? 'localhost:7233')
    .option('--namespace <name>', 'of the workflow', namespace ?? 'default');
}

/**
 * Connects for as long as something takes.
 * @param connectMs how long the server may take to be reached, if that is less than 10 s
 */
export async function connected<T>(
  { address, namespace }: ServerOptions,
  use: (client: Client) => Promise<T>,
  connectMs = CONNECT_MS,
): Promise<T> {
  const connection = await connect(address, Math.min(connectMs, CONNECT_MS));
  try {
    return await use(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
}

async function connect(address: string, connectTimeout: number): Promise<Connection> {
  try {
    return await Connection.connect({ address, connectTimeout });
  } catch (error) {
    const why = (error as Error).message.split('\n', 1)[0];
    throw new Error(`Cannot reach a Temporal server at ${address}: ${why}. Say where it is with --address.`, {
      cause: error,
    });
  }
}
