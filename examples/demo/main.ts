/**
 * The demo: a support agent works through an order; the worker that holds its run is killed with kill -9 in the middle,
 * another finishes; a person approves the refund. `npm run demo`, or `npm run demo -- --yes` to answer by itself.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { approve, records, reject, waiting } from 'temporal-agents';
import { findServerBinary, startDevServer, startScriptedProvider } from 'temporal-agents/testing';
import type { support } from './agents.ts';
import { scriptedSupport } from './scripted-support.ts';
import { turnStarts } from './turn-starts.ts';

const answersItself = process.argv.includes('--yes');
const say = (text = '') => void process.stdout.write(`${text}\n`);

const server = await startDevServer({ ui: true });
const cli = await findServerBinary('dev');
const scripted = process.env['OPENAI_API_KEY'] ? undefined : await startScriptedProvider(scriptedSupport);
const env = {
  ...process.env,
  TEMPORAL_ADDRESS: server.address,
  ...(scripted && {
    OPENAI_BASE_URL: scripted.url,
    OPENAI_API_KEY: 'scripted',
    OPENAI_AGENTS_DISABLE_TRACING: '1',
  }),
};
say(`Temporal   ${server.address}, UI ${server.uiUrl ?? 'of your own server'}`);
say(`Model      ${scripted ? 'scripted, over HTTP (set OPENAI_API_KEY for a real one)' : 'the OpenAI API'}`);

const workers = new Map<number, ChildProcess>();
for (const child of await Promise.all([startWorker(), startWorker()])) workers.set(child.pid!, child);
say(`Workers    ${[...workers.keys()].join(' and ')}`);

const connection = await Connection.connect({ address: server.address });
const client = new Client({ connection, namespace: server.namespace });
const handle = await client.workflow.start<typeof support>('support', {
  staticSummary: 'A customer whose espresso machine does not heat',
  taskQueue: 'agents',
  workflowId: `support-${Date.now()}`,
  args: ['My espresso machine does not heat any more. My account is acct-17. I would like my money back.'],
});
const url = `${server.uiUrl ?? ''}/namespaces/${server.namespace}/workflows/${handle.workflowId}/${handle.firstExecutionRunId}`;
say(`Run        ${handle.workflowId}`);
if (server.uiUrl) say(`           ${url}`);
say();

await killInMidRun();
await answer();
const result = await handle.result();
say();
say(`Answer     ${result}`);
await report();

await connection.close();
for (const child of workers.values()) child.kill('SIGKILL');
await scripted?.stop();
await server.stop();
process.exit(0);

async function startWorker(): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), { env });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`A worker ended with ${code} before it was ready.`);
  });
  await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => {});
  return child;
}

/** Kills the worker that holds the run while its third turn is in flight; the server knows which that is. */
async function killInMidRun(): Promise<void> {
  for (;;) {
    const { raw } = await handle.describe();
    const turns = await turnStarts(handle);
    const running = raw.pendingActivities?.find((activity) => activity.activityType?.name === 'agents.turn');
    const pid = Number.parseInt(running?.lastWorkerIdentity ?? '', 10);
    if (turns.answered >= 2 && workers.has(pid)) {
      say(`Answered   ${turns.answered} model turns; turn ${turns.answered + 1} is with the provider now`);
      say(`Kill       kill -9 ${pid}, the worker that holds the run`);
      workers.get(pid)!.kill('SIGKILL');
      workers.delete(pid);
      say(`           worker ${[...workers.keys()].join()} takes over`);
      return;
    }
    await delay(50);
  }
}

/** Waits until the agent wants its refund and somebody has decided. */
async function answer(): Promise<void> {
  for (;;) {
    const pending = (await handle.query(waiting).catch(() => undefined))?.approvals[0];
    if (pending) {
      say();
      say(`Approval   ${pending.prompt}`);
      say(
        `           in the UI, or: ${cli} workflow signal --address ${server.address} -w ${handle.workflowId} --name approve --input '{"id":"${pending.id}"}'`,
      );
      if (answersItself) {
        await handle.signal(approve, { id: pending.id, by: 'the demo' });
        say('           approved by --yes');
        return;
      }
      await decideByKey(handle, pending.id);
      return;
    }
    if ((await handle.describe()).status.name !== 'RUNNING') return;
    await delay(200);
  }
}

async function decideByKey(run: WorkflowHandle, id: string): Promise<void> {
  say('           or here: y and Enter approves, n and Enter rejects');
  const lines = createInterface({ input: process.stdin });
  const waits = async () => (await run.query(waiting)).approvals.some((pending) => pending.id === id);
  lines.on('line', (line) => {
    const key = line.trim().toLowerCase();
    if (key === 'y') void run.signal(approve, { id, by: 'the demo' });
    else if (key === 'n') void run.signal(reject, { id, by: 'the demo', reason: 'The shop said no.' });
    else say('           y or n?');
  });
  while (await waits()) await delay(300);
  lines.close();
}

/** What was paid for: answered turns and finished tools, and the provider's calls beside them. */
async function report(): Promise<void> {
  const done = await handle.query(records);
  const turns = done.filter((record) => record.kind === 'turn');
  const tools = done.filter((record) => record.kind === 'tool' && !record.failure);
  const rejected = done.filter((record) => record.failure?.name === 'ToolRejectedError');
  const starts = await turnStarts(handle);
  say();
  say(`Turns      ${turns.length} answered`);
  say(`Tools      ${tools.length} finished: ${tools.map((record) => record.name).join(', ')}`);
  if (rejected.length > 0)
    say(`           ${rejected.length} rejected: ${rejected.map((record) => record.name).join(', ')}`);
  const calls = scripted ? scripted.requests.length : starts.started;
  const twice = calls - turns.length;
  say(`Calls      ${calls} to the provider`);
  if (twice > 0) {
    say(
      `           ${twice} more than answered turns: turn ${starts.askedAgain.join(', ')} was with the provider when its worker was killed`,
    );
  } else say('           each turn once: the one in flight was answered before its worker died');
  const tokens = turns.reduce((sum, { usage }) => sum + (usage?.input ?? 0) + (usage?.output ?? 0), 0);
  say(`Tokens     ${tokens}`);
}
