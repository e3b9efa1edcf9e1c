/** A worker process of the demo. */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { AgentsPlugin } from 'temporal-agents/worker';
import { support } from './agents.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS']! }),
  taskQueue: 'agents',
  // A demo should not wait long for a dead worker to be noticed; leave these out in production.
  stickyQueueScheduleToStartTimeout: '2s',
  plugins: [new AgentsPlugin({ agents: [support], heartbeatTimeout: '5s' })],
});
process.send?.('ready');
process.on('disconnect', () => process.exit());
await worker.run();
