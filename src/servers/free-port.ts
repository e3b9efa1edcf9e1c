import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A TCP port of 127.0.0.1 that the system gives to nobody else for the next minute or so.
 *
 * A port that was only listened on is free again at once, and two processes could be given the same one. So we also
 * take a connection on it and close that from the listening side, which leaves the port in TIME_WAIT: the system
 * passes it over when asked for any port, yet a server that names it may bind it.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1');
  const [socket] = await accepted;
  socket.end();
  client.resume();
  await once(client, 'close');
  server.close();
  await once(server, 'close');
  return port;
}

/** Throws when something listens on the port already: a server that is not ours would answer in place of ours. */
export async function assertPortFree(port: number): Promise<void> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(`Cannot use port ${port}: ${(error as Error).message}. Choose another or leave it out.`, {
      cause: error,
    });
  }
  server.close();
  await once(server, 'close');
}
