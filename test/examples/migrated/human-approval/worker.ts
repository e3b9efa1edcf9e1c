/** The sample's worker. */
import { NativeConnection, Worker } from '@temporalio/worker';
import { AgentsPlugin } from 'temporal-agents/worker';
import { approvalWorkflow } from './agents.ts';

async function run() {
  const apiKey = process.env['OPENAI_API_KEY'];
  if (!apiKey) {
    throw new Error('OPENAI_API_KEY environment variable is required');
  }

  const connection = await NativeConnection.connect({
    address: process.env['TEMPORAL_ADDRESS'] ?? 'localhost:7233',
  });
  try {
    const worker = await Worker.create({
      connection,
      taskQueue: 'openai-agents-human-approval',
      plugins: [new AgentsPlugin({ agents: [approvalWorkflow] })],
    });
    await worker.run();
  } finally {
    await connection.close();
  }
}

run().catch((err) => {
  console.error(err);
  process.exit(1);
});
