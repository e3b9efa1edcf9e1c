/** A worker process of the tests. */
import { existsSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { type Agent, FileStore } from '../../src/index.ts';
import type { Advance } from '../../src/protocol/advance.ts';
import { ADVANCE, AWAIT_LOOP, NOTED } from '../../src/protocol/names.ts';
import { AgentsPlugin } from '../../src/worker/index.ts';
import { note } from './effects.ts';
import type { WorkerProcessOptions } from './workers.ts';

const options = JSON.parse(process.env['KIT_WORKER']!) as WorkerProcessOptions;
Runtime.install({ logger: new DefaultLogger((process.env['KIT_LOG'] as 'ERROR' | undefined) ?? 'ERROR') });

/** Steps that this process has answered. */
let answered = 0;
/** It is about to be killed. The SDK makes an interceptor for each activity, so this belongs to none of them. */
let dying = false;

const exported = Object.values((await import(options.module)) as Record<string, unknown>);
const agents = exported.filter(
  (value): value is Agent => typeof value === 'function' && 'agentName' in value,
);
const { KIT_BLOBS: blobs, KIT_DATA_CONVERTER: converter } = process.env;
const { dataConverter } = (converter === undefined ? {} : await import(converter)) as Partial<
  typeof import('./xor-codec.ts')
>;
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env['KIT_TEMPORAL_ADDRESS']! }),
  ...(!options.toolsOnly && { workflowBundle: { codePath: process.env['KIT_BUNDLE']! } }),
  ...(dataConverter && { dataConverter }),
  ...options.worker,
  taskQueue: options.taskQueue,
  interceptors: { activity: [() => ({ inbound: killer() })] },
  plugins: [
    new AgentsPlugin({
      ...(blobs !== undefined && { blobs: new FileStore(blobs) }),
      ...options.plugin,
      ...(!options.toolsOnly && { agents }),
    }),
  ],
});
const run = worker.run();
process.send!('polls');
// It will end by a kill, as likely as not.
flushCompileCache();
// The test that started this process is gone.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
await run;
process.exit(0);

/** Ends this process, as told, after its n-th answer: before that gets to the server, or as soon as the server has it. */
function killer(): ActivityInboundCallsInterceptor {
  const { kill, holdEnd } = options;
  const die = () => {
    note('killed');
    process.kill(process.pid, 'SIGKILL');
  };
  return {
    async execute(input, next) {
      // Nothing more begins here.
      if (dying) await new Promise(() => {});
      const { info, client } = Context.current();
      const result = await next(input);
      if (holdEnd !== undefined && info.activityType === ADVANCE && (result as Advance).end) {
        note('end held');
        while (!existsSync(holdEnd)) await delay(5);
      }
      const isStep = ![ADVANCE, AWAIT_LOOP, NOTED].includes(info.activityType) && !isMoved(result);
      if (!isStep || ++answered !== kill?.step) return result;
      if (kill.when === 'before') die();
      dying = true;
      const { workflowId, runId } = info.workflowExecution!;
      const handle = client.workflow.getHandle(workflowId, runId);
      void (async () => {
        while (!isAnswered(await handle.fetchHistory(), info.activityId)) await delay(2);
        die();
      })();
      return result;
    },
  };
}

function isAnswered({ events }: History, activityId: string): boolean {
  const all = events ?? [];
  // One that was scheduled again under its id.
  const scheduled = all.findLast(
    (event) => event.activityTaskScheduledEventAttributes?.activityId === activityId,
  );
  return all.some((event) => {
    const completed = event.activityTaskCompletedEventAttributes;
    return completed != null && String(completed.scheduledEventId) === String(scheduled?.eventId);
  });
}

function isMoved(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'moved' in result;
}
