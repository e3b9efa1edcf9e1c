/** A worker process of the official plugin. */
import { fileURLToPath } from 'node:url';
import { setTracingDisabled } from '@openai/agents-core';
import { OpenAIProvider } from '@openai/agents-openai';
import { heartbeat } from '@temporalio/activity';
import { OpenAIAgentsPlugin } from '@temporalio/openai-agents';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import { given, serve } from '../kit/serve.ts';
import { webpackConfigHook } from './eager-imports.ts';
import type { Call } from '../kit/task.ts';
import { work } from '../kit/tool-body.ts';

// Its core warns of each payload over 512 KB, of which there is one a turn in a long chat.
const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter } } });
setTracingDisabled(true);
const connection = await NativeConnection.connect({ address: given.address });
const workflowsPath = fileURLToPath(new URL('./workflow.ts', import.meta.url));
await serve(
  async () =>
    await Worker.create({
      connection,
      taskQueue: given.taskQueue,
      ...(given.bundle
        ? { workflowBundle: { codePath: given.bundle } }
        : { workflowsPath, bundlerOptions: { webpackConfigHook } }),
      activities: { lookup: async (call: Call) => await work(call, heartbeat) },
      plugins: [
        new OpenAIAgentsPlugin({
          modelProvider: new OpenAIProvider({ baseURL: given.modelUrl, apiKey: 'none' }),
        }),
      ],
      ...given.worker,
    }),
);
