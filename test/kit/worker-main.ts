/** A worker process of the tests. */
import { appendFileSync } from 'node:fs';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import type { Agent } from '../../src/index.ts';
import { AgentsPlugin } from '../../src/worker/index.ts';
import type { WorkerProcessOptions } from './workers.ts';

const options = JSON.parse(process.env['KIT_WORKER']!) as WorkerProcessOptions;
Runtime.install({ logger: new DefaultLogger((process.env['KIT_LOG'] as 'ERROR' | undefined) ?? 'ERROR') });

/** Steps that this process has answered. */
let answered = 0;

const exported = Object.values((await import(options.module)) as Record<string, unknown>);
const agents = exported.filter(
  (value): value is Agent => typeof value === 'function' && 'agentName' in value,
);
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env['KIT_TEMPORAL_ADDRESS']! }),
  ...(!options.toolsOnly && { workflowBundle: { codePath: process.env['KIT_BUNDLE']! } }),
  ...options.worker,
  taskQueue: options.taskQueue,
  interceptors: { activity: [() => ({ inbound: killer() })] },
  plugins: [new AgentsPlugin({ ...options.plugin, ...(!options.toolsOnly && { agents }) })],
});
const run = worker.run();
process.send!('polls');
// The test that started this process is gone.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
await run;
process.exit(0);

function killer(): ActivityInboundCallsInterceptor {
  const { kill } = options;
  const die = () => {
    if (process.env['EFFECTS'])
      appendFileSync(process.env['EFFECTS'], `${process.pid} ${Date.now()} killed\n`);
    process.kill(process.pid, 'SIGKILL');
  };
  return {
    async execute(input, next) {
      const [first] = input.args as [{ from?: number; records?: unknown[] } | undefined];
      const isAdvance = first !== undefined && first !== null && Array.isArray(first.records);
      if (kill?.when === 'after' && isAdvance && first.from! + first.records!.length >= kill.step) die();
      const result = await next(input);
      if (kill?.when === 'before' && !isAdvance && !isMoved(result) && ++answered === kill.step) die();
      return result;
    },
  };
}

function isMoved(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'moved' in result;
}
