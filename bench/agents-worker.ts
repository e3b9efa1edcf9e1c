/** A worker process of this package. */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { AgentsPlugin } from 'temporal-agents/worker';
import { assistant, plain } from './agents.ts';
import { given, serve } from './kit/serve.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address: given.address });
await serve(
  async () =>
    await Worker.create({
      connection,
      taskQueue: given.taskQueue,
      plugins: [new AgentsPlugin({ agents: [plain, assistant] })],
      ...given.worker,
    }),
);
