/** Runs under fire: worker processes that are killed, paused and stopped at random, by a seed. */
import { startScriptedProvider } from '../../src/testing/index.ts';
import { approve, records, waiting } from '../../src/index.ts';
import { newEffects, tally } from './effects.ts';
import { chainOf, client, type History, repeatedSteps, unique } from './temporal.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker, type WorkerProcess } from './workers.ts';

export interface ChaosOptions {
  seed: number;
  runs: number;
  rounds: number;
  /** For how long processes are attacked, in milliseconds. */
  attackMs: number;
  continueAfterRecords?: number;
}

export interface ChaosReport {
  attacks: { kills: number; pauses: number; stops: number };
  /** Results of the runs, the run's own id and the winners of races taken out of them. */
  outcomes: unknown[];
  /** Races whose winner is not the turn that was answered first. */
  turned: string[];
  histories: History[];
  /** Steps scheduled again although they had an answer. */
  repeated: string[];
  /** How often each tool body ran. */
  bodies: Record<string, number>;
}

export async function runChaos({
  seed,
  runs,
  rounds,
  attackMs,
  continueAfterRecords,
}: ChaosOptions): Promise<ChaosReport> {
  const random = randomFrom(seed);
  const taskQueue = unique(`chaos-${seed}`);
  const log = newEffects();
  const provider = await startScriptedProvider(({ messages }) => {
    const { text } = messages.at(-1)!;
    return { text: text.replace(/ wait \d+$/, ' done'), delayMs: Number(/wait (\d+)$/.exec(text)?.[1] ?? 0) };
  });
  const spawn = async () =>
    await spawnWorker({
      taskQueue,
      module: new URL('../fixtures/chaos-agents.ts', import.meta.url).href,
      // A process that is only slow is not to count as dead: three deaths under one turn end its run, as they should.
      plugin: {
        ...QUICK_PLUGIN,
        heartbeatTimeout: '4s',
        ...(continueAfterRecords !== undefined && { continueAfterRecords }),
      },
      worker: QUICK_WORKER,
      env: { EFFECTS: log, PROVIDER_URL: provider.url },
    });
  const workers: WorkerProcess[] = await Promise.all([spawn(), spawn(), spawn()]);
  const all = new Set(workers);
  const replace = async () => {
    const worker = await spawn();
    workers.push(worker);
    all.add(worker);
  };
  const { workflow } = await client();
  const ids = Array.from({ length: runs }, (_, i) => `run${i}`);
  const handles = await Promise.all(
    ids.map(
      async (id) =>
        await workflow.start('chaos', {
          taskQueue,
          workflowId: `${taskQueue}-${id}`,
          args: [{ id, rounds }],
          ...QUICK_START,
        }),
    ),
  );
  const attacks = { kills: 0, pauses: 0, stops: 0 };
  let over = false;
  const replacing: Promise<void>[] = [];
  const attacking = (async () => {
    const end = Date.now() + attackMs;
    while (!over && Date.now() < end) {
      await delay(1_000 + random() * 1_500);
      const victim = workers[Math.floor(random() * workers.length)];
      const kind = random();
      if (!victim) continue;
      if (kind < 0.4) {
        attacks.kills++;
        workers.splice(workers.indexOf(victim), 1);
        void victim.kill();
        replacing.push(replace());
      } else if (kind < 0.7) {
        attacks.pauses++;
        victim.pause();
        setTimeout(() => victim.resume(), 1_000 + random() * 5_000);
      } else {
        attacks.stops++;
        workers.splice(workers.indexOf(victim), 1);
        victim.process.kill('SIGTERM');
        replacing.push(replace());
      }
    }
  })();
  const approving = (async () => {
    const open = new Map(handles.map((handle) => [handle.workflowId, workflow.getHandle(handle.workflowId)]));
    while (!over && open.size > 0) {
      await delay(500);
      for (const [id, handle] of open) {
        const pending = await handle.query(waiting).catch(() => undefined);
        const first = pending?.approvals[0];
        if (!first) continue;
        await handle.signal(approve, { id: first.id });
        open.delete(id);
      }
    }
  })();
  const results = await Promise.all(handles.map(async (handle) => await handle.result()));
  over = true;
  await Promise.all([attacking, approving, ...replacing]);
  // Who is paused, or on its way out, would swallow a query.
  for (const worker of all) await worker.kill();
  await replace();
  const answers = await Promise.all(handles.map(async (handle) => await handle.query(records)));
  const chains = await Promise.all(handles.map(async (handle) => await chainOf(handle)));
  for (const worker of all) await worker.kill();
  await provider.stop();
  return {
    attacks,
    outcomes: results.map((result, i) => {
      const text = JSON.stringify(result).replaceAll(ids[i]!, 'run');
      return JSON.parse(text.replaceAll(/(fast|slow) run/g, 'winner run')) as unknown;
    }),
    turned: results.flatMap((result, i) => {
      // Which turn is first may differ from run to run, since a pause delays the one with work of its own before it.
      const first = answers[i]!.find(({ value }) => /^(fast|slow) /.test(String(value)));
      return first && !JSON.stringify(result).includes(`"${String(first.value)}"`) ? [ids[i]!] : [];
    }),
    histories: chains.flat(),
    repeated: chains.flatMap(repeatedSteps),
    bodies: tally(log),
  };
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

async function delay(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
