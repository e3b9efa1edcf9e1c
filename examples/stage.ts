/** What an example has around it: a server, a worker, a client, and a scripted model where there is no key. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import {
  type Agent,
  type BlobStore,
  type PendingApproval,
  type PendingQuestion,
  waiting,
} from 'temporal-agents';
import { type ProviderScript, startDevServer, startScriptedProvider } from 'temporal-agents/testing';
import { AgentsPlugin } from 'temporal-agents/worker';

export interface Stage {
  client: Client;
  taskQueue: string;
  namespace: string;
}

export function say(who: string, text: string): void {
  process.stdout.write(`${who.padEnd(10)} ${text}\n`);
}

/** Has somebody answer in the terminal; with `--yes`, `byItself` is the answer. */
export async function prompt(question: string, byItself: string): Promise<string> {
  if (process.argv.includes('--yes')) return byItself;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const nobody = once(terminal, 'close').then(() => {
    throw new Error('Nobody is at the terminal. Use --yes to have it decided by itself.');
  });
  const said = await Promise.race([terminal.question(`${question} `), nobody]);
  nobody.catch(() => {});
  terminal.close();
  return said;
}

/** Plays on a stage, which is taken down in the end. `script`: what the model says when there is no `OPENAI_API_KEY`. */
export async function onStage(
  { agents, script, blobs }: { agents: Agent[]; script: ProviderScript; blobs?: BlobStore },
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const scripted = process.env['OPENAI_API_KEY'] ? undefined : await startScriptedProvider(script);
  if (scripted) {
    process.env['OPENAI_BASE_URL'] = scripted.url;
    process.env['OPENAI_API_KEY'] = 'scripted';
  }
  const server = await startDevServer({ ui: true });
  const { address, namespace } = server;
  const client = new Client({ connection: await Connection.connect({ address }), namespace });
  const taskQueue = `example-${process.pid}`;
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    namespace,
    taskQueue,
    plugins: [new AgentsPlugin({ agents, ...(blobs && { blobs }) })],
  });
  if (server.uiUrl) say('Temporal', server.uiUrl);
  await worker.runUntil(play({ client, taskQueue, namespace }));
  await client.connection.close();
  await scripted?.stop();
  await server.stop();
}

/** Hands what waits to `decide`, one after the other, until the run has its result. */
export async function decideUntilDone<T>(
  handle: WorkflowHandle<() => Promise<T>>,
  decide: (what: PendingApproval | PendingQuestion) => Promise<void>,
): Promise<T> {
  const seen = new Set<string>();
  const result = handle.result();
  const over = result.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([over, delay(300, false)]))) {
    const { approvals, questions } = await handle.query(waiting);
    const next = [...approvals, ...questions].find(({ id }) => !seen.has(id));
    if (!next) continue;
    seen.add(next.id);
    await decide(next);
  }
  return await result;
}
