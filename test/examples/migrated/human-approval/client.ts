/** The sample's client. An approval answers a question, so it first waits until one is asked. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { approve, waiting } from 'temporal-agents/client';
import type { approvalWorkflow } from './agents.ts';

async function run() {
  const scenario = process.argv[2] ?? 'human-approval';
  console.log(`Running scenario: ${scenario}`);

  const connection = await Connection.connect({
    address: process.env['TEMPORAL_ADDRESS'] ?? 'localhost:7233',
  });
  const client = new Client({ connection });

  const taskQueue = 'openai-agents-human-approval';
  const workflowId = `openai-agents-${randomUUID()}`;

  const handle = await client.workflow.start<typeof approvalWorkflow>('approvalWorkflow', {
    taskQueue,
    workflowId,
    args: [{}],
  });

  console.log(`Started workflow ${handle.workflowId}`);
  let { approvals } = await handle.query(waiting);
  while (approvals.length === 0) {
    await delay(500);
    ({ approvals } = await handle.query(waiting));
  }
  console.log('Sending approval signal...');
  for (const { id } of approvals) await handle.signal(approve, { id });
  console.log(await handle.result());
  await connection.close();
}

run().catch((err) => {
  console.error(err);
  process.exit(1);
});
