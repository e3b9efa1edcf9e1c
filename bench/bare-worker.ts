/** A worker process of the bare workflow. */
import { fileURLToPath } from 'node:url';
import { heartbeat } from '@temporalio/activity';
import { NativeConnection, Worker } from '@temporalio/worker';
import { given, serve } from './kit/serve.ts';
import type { Call } from './kit/task.ts';
import { work } from './kit/tool-body.ts';
import { quietRuntime } from './quiet-runtime.ts';

quietRuntime();
const connection = await NativeConnection.connect({ address: given.address });
const activity = async (call: Call) => await work(call, heartbeat);
const workflowsPath = fileURLToPath(new URL('./bare-workflow.ts', import.meta.url));
await serve(
  async () =>
    await Worker.create({
      connection,
      taskQueue: given.taskQueue,
      ...(given.bundle ? { workflowBundle: { codePath: given.bundle } } : { workflowsPath }),
      activities: { turn: activity, lookup: activity },
      ...given.worker,
    }),
);
