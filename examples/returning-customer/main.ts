/**
 * One message of a customer to the clerk, and the answer. Each time it is run it is a process of its own, with a worker,
 * a run and, unless TEMPORAL_ADDRESS names one, even a server of its own; what stays is the memory.
 * `npm run returning-customer -- 'I would like my usual coffee.'`
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { FileStore, MemoryStore } from 'temporal-agents';
import { startDevServer, startScriptedProvider } from 'temporal-agents/testing';
import { AgentsPlugin } from 'temporal-agents/worker';
import { clerk } from './agents.ts';
import { scriptedClerk } from './scripted-clerk.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });
const say = (text: string) => void process.stdout.write(`${text}\n`);

const customer = process.env['CUSTOMER'] ?? 'ann';
const folder =
  process.env['CUSTOMER_MEMORY'] ??
  join(homedir(), '.local', 'share', 'temporal-agents', 'returning-customer');
const blobs = new FileStore(folder);

const scripted = process.env['OPENAI_API_KEY'] ? undefined : await startScriptedProvider(scriptedClerk);
if (scripted) {
  process.env['OPENAI_BASE_URL'] = scripted.url;
  process.env['OPENAI_API_KEY'] = 'scripted';
  process.env['OPENAI_AGENTS_DISABLE_TRACING'] = '1';
}
const server = await startDevServer();
const { address, namespace } = server;

// The same conversation as the runs have, seen from outside of them.
const memory = new MemoryStore(blobs, { namespace }).getOrCreate(customer);
const { items } = await memory.conversation().read();
say(`Memory     ${items.length} items of ${customer}, in ${folder}`);

const taskQueue = `clerk-${process.pid}`;
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue,
  plugins: [new AgentsPlugin({ agents: [clerk], blobs })],
});
const connection = await Connection.connect({ address });
const client = new Client({ connection, namespace });
const first = 'I am Ann, and I take my coffee with oat milk.';
const says = process.argv[2] ?? (items.length === 0 ? first : 'How do I take my coffee?');
say(`Customer   ${says}`);
const answer = await worker.runUntil(
  client.workflow.execute(clerk, {
    taskQueue,
    workflowId: `${customer}-${Date.now()}`,
    args: [{ customer, says }],
  }),
);
say(`Clerk      ${answer}`);

await connection.close();
await scripted?.stop();
await server.stop();
process.exit(0);
