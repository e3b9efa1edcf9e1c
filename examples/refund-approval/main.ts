/**
 * A shop complains about an order over HTTP, the agent wants to refund it, and a person decides: in Temporal's UI, with curl,
 * or with Temporal's command line. `npm run refund-approval`
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { setTracingDisabled } from '@openai/agents';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { decisionsOf, waiting } from 'temporal-agents';
import { startDevServer, startScriptedProvider } from 'temporal-agents/testing';
import { AgentsPlugin } from 'temporal-agents/worker';
import { refunds } from './agents.ts';
import { createGateway } from './gateway.ts';
import { scriptedModel } from './scripted-model.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });
const say = (who: string, text: string) => void process.stdout.write(`${who.padEnd(10)} ${text}\n`);

const scripted = process.env['OPENAI_API_KEY'] ? undefined : await startScriptedProvider(scriptedModel);
if (scripted) {
  process.env['OPENAI_BASE_URL'] = scripted.url;
  process.env['OPENAI_API_KEY'] = 'scripted';
  setTracingDisabled(true);
}
const server = await startDevServer({ ui: true });
const { address, namespace } = server;
const client = new Client({ connection: await Connection.connect({ address }), namespace });
const taskQueue = `refunds-${process.pid}`;
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue,
  plugins: [new AgentsPlugin({ agents: [refunds] })],
});
const tokens = { shop: randomBytes(12).toString('hex'), approvers: { ann: randomBytes(12).toString('hex') } };
const gateway = createGateway({ client, taskQueue, tokens });
gateway.listen(0, '127.0.0.1');
await once(gateway, 'listening');
const orders = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/orders`;

await worker.runUntil(async () => {
  const order = `A-${process.pid}`;
  const text = 'The lamp came in pieces. It cost $240.';
  const response = await fetch(`${orders}/${order}/complaints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.shop}` },
    body: JSON.stringify({ text }),
  });
  say('Shop', `${text} (${response.status})`);
  const handle = client.workflow.getHandle(`refund-${order}`);
  const over = handle.result().then((answer) => ({ answer: String(answer) }));
  let answer: string | undefined;
  for (let shown = ''; answer === undefined;) {
    ({ answer } = await Promise.race([over, delay(300, { answer: undefined })]));
    const [pending] = (await handle.query(waiting)).approvals;
    if (!pending || pending.id === shown) continue;
    shown = pending.id;
    const decision = JSON.stringify({ id: shown, decision: 'approve' });
    say('Waits for', `${pending.audience}: ${pending.prompt}`);
    say(
      'Decide',
      `in the Temporal UI: ${server.uiUrl}/namespaces/${namespace}/workflows/${handle.workflowId}`,
    );
    say(
      '',
      `or: curl ${orders}/${order}/decisions -H 'authorization: Bearer ${tokens.approvers.ann}' -d '${decision}'`,
    );
  }
  for (const { id, decision, by = 'nobody', identity, arguments: changed } of await decisionsOf(
    client,
    handle.workflowId,
  )) {
    const what = changed === undefined ? decision : `${decision}, changed to ${JSON.stringify(changed)}`;
    say(
      'Decided',
      `${id} ${what}; by ${by}, as they say; sent by ${identity || 'somebody without identity'}`,
    );
  }
  say('Agent', answer);
});

gateway.close();
await client.connection.close();
await scripted?.stop();
await server.stop();
process.exit(0);
