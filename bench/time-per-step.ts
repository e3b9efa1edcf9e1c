/**
 * Time per step: a bare workflow with so many sequential activities, and an agent with so many turns and tools, one after
 * the other, interleaved and repeated on one server. Prints the medians and their ratio, and bytes of history a step.
 * `npm run bench`
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { AgentsPlugin } from 'temporal-agents/worker';
import { startDevServer } from 'temporal-agents/testing';
import { turnsAndTools } from './agents.ts';

const TURNS = 30;
const ROUNDS = 5;

Runtime.install({ logger: new DefaultLogger('ERROR') });
const server = await startDevServer();
const connection = await NativeConnection.connect({ address: server.address });
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
  logger: new DefaultLogger('ERROR'),
});
const codePath = fileURLToPath(new URL('../.cache/bare-bundle.cjs', import.meta.url));
mkdirSync(fileURLToPath(new URL('../.cache', import.meta.url)), { recursive: true });
writeFileSync(codePath, code);
const answer = async () => 'x'.repeat(500);
const bare = await Worker.create({
  connection,
  taskQueue: 'bare',
  workflowBundle: { codePath },
  activities: { turn: answer, lookup: answer },
});
const began = performance.now();
const agents = await Worker.create({
  connection,
  taskQueue: 'agents',
  plugins: [new AgentsPlugin({ agents: [turnsAndTools] })],
});
const startMs = performance.now() - began;
const running = [bare.run(), agents.run()];
const client = new Client({ connection: await Connection.connect({ address: server.address }) });
const times: Record<'bare' | 'agent', number[]> = { bare: [], agent: [] };
const bytes: number[] = [];
for (let round = 0; round <= ROUNDS; round++) {
  for (const kind of ['bare', 'agent'] as const) {
    const at = performance.now();
    const workflowId = `${kind}-${round}`;
    const type = kind === 'bare' ? 'bare' : 'turnsAndTools';
    const taskQueue = kind === 'bare' ? 'bare' : 'agents';
    await client.workflow.execute(type, { taskQueue, workflowId, args: [TURNS] });
    // The first round warms up.
    if (round > 0) times[kind].push(performance.now() - at);
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    if (kind === 'agent') bytes.push(Number(raw.workflowExecutionInfo?.historySizeBytes));
  }
}
const steps = 2 * TURNS - 1;
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const perStep = (kind: 'bare' | 'agent') => median(times[kind]) / steps;
const range = times.agent.map((ms, i) => ms / times.bare[i]!).toSorted((a, b) => a - b);
const line = (text: string) => void process.stdout.write(`${text}\n`);
line(
  `${TURNS} turns, ${TURNS - 1} tools, ${ROUNDS} rounds; dev server with transferProcessorMaxPollRPS=2000`,
);
line(`bare workflow   ${perStep('bare').toFixed(1)} ms a step`);
line(
  `agent           ${perStep('agent').toFixed(1)} ms a step, ${(perStep('agent') / perStep('bare')).toFixed(2)} of bare (${range[0]!.toFixed(2)} to ${range.at(-1)!.toFixed(2)})`,
);
line(`history         ${Math.round(median(bytes) / steps)} bytes a step, answers of 500 bytes included`);
line(`worker start    ${Math.round(startMs)} ms (Worker.create)`);
for (const worker of [bare, agents]) worker.shutdown();
await Promise.all(running);
await server.stop();
process.exit(0);
