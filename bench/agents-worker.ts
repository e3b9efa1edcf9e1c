/** A worker process of this package. */
import { NativeConnection, Worker } from '@temporalio/worker';
import { AgentsPlugin } from 'temporal-agents/worker';
import { assistant, plain } from './agents.ts';
import { given, serve } from './kit/serve.ts';
import { quietRuntime } from './quiet-runtime.ts';

quietRuntime();
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
