/** A proxy in front of an HTTP server that does to requests what networks and overloaded servers do. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to a request. */
type Fault =
  /** It is answered with this status, and code if it is an error, and never comes through. */
  | { status: number; code?: string }
  /** It is never answered. */
  | 'hang'
  /** It comes through, and the connection is cut instead of an answer. */
  | 'lose the answer'
  /** Half of its answer comes, and then nothing more. */
  | 'stall'
  /** Half of its answer comes, and then the connection is cut. */
  | 'cut';

export interface FaultyProxy {
  endpoint: string;
  /** What happens to the next requests, one each; then they come through. */
  faults: Fault[];
  /** What came, as methods. */
  requests: string[];
  stop(): Promise<void>;
}

/** Starts a proxy on a free port. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const faults: Fault[] = [];
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(incoming.method!);
    void handle(target, faults.shift(), incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { endpoint: `http://127.0.0.1:${port}`, faults, requests, stop };
}

async function handle(
  target: string,
  fault: Fault | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = Buffer.concat(await incoming.toArray());
  if (fault === 'hang') return;
  if (typeof fault === 'object') {
    outgoing.writeHead(fault.status, { 'content-type': 'application/xml' });
    const error = `<Error><Code>${fault.code}</Code><Message>as the test has it</Message></Error>`;
    outgoing.end(fault.code && error);
    return;
  }
  const { method, headers, url } = incoming;
  const forwarded = request(new URL(url!, target), { method: method!, headers });
  forwarded.end(body);
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
  const answered = Buffer.concat(await answer.toArray());
  if (fault === 'lose the answer') {
    outgoing.destroy();
    return;
  }
  outgoing.writeHead(answer.statusCode!, answer.headers);
  if (fault === undefined) {
    outgoing.end(answered);
    return;
  }
  outgoing.write(answered.subarray(0, answered.length / 2), () => {
    if (fault === 'cut') outgoing.destroy();
  });
}
