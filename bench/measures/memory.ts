import { setTimeout as delay } from 'node:timers/promises';
import { waitingId } from '../kit/approvals.ts';
import type { Measure } from '../kit/measure.ts';
import { compare, digits } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage, type Run } from '../kit/stage.ts';
import { bare, official, plain, sdk } from '../kit/subjects.ts';

const small = { answerBytes: 500, resultBytes: 500 };
const MB = 1e6;

/** Resident memory of the worker's process; each load meets a fresh one. */
export const memory: Measure = {
  name: 'memory',
  about:
    'Resident memory of a worker process: idle, after 30 runs at once, and with runs that wait for approval',
  run: async ({ quick }) => {
    const rounds = quick ? 1 : 3;
    const waiting = quick ? 100 : 2_000;
    const idle = new Rounds();
    const loaded = new Rounds();
    const full = new Rounds();
    const each = new Rounds();
    for (let round = 0; round < rounds; round++) {
      for (const subject of [bare, plain, sdk, official]) {
        await onStage(async ({ startWorker, startRun }) => {
          const worker = await startWorker(subject.party);
          idle.add(subject.label, (await worker.memory()).rss / MB);
          const runs = Array.from(
            { length: 30 },
            async () => await startRun(subject, { ...small, calls: 29 }),
          );
          for (const run of runs) await (await run).result();
          loaded.add(subject.label, (await worker.memory()).rss / MB);
        });
        // The cache is as large for all, so that no run is evicted. It is 2,000 by default with temporal-agents.
        const settings = { worker: { maxCachedWorkflows: waiting + 500 } };
        await onStage(async ({ startWorker, startRun }) => {
          const worker = await startWorker(subject.party, settings);
          await (await startRun(subject, { ...small, calls: 3 })).result();
          const before = (await worker.memory()).rss;
          await startWaiting(
            waiting,
            async () => await startRun(subject, { ...small, calls: 1, approvalsFrom: 0 }),
          );
          // What is watched beside a wait is watched for 5 s.
          await delay(10_000);
          const after = (await worker.memory()).rss;
          full.add(subject.label, after / MB);
          each.add(subject.label, (after - before) / waiting / 1_000);
        });
      }
    }
    const options = { show: digits(0), bases: [bare.label, official.label] };
    compare(`MB, idle, ${rounds} rounds`, idle.series(), options);
    compare(`MB after 30 runs of 30 turns at once, ${rounds} rounds`, loaded.series(), options);
    compare(`MB with ${waiting} runs that wait, ${rounds} rounds`, full.series(), options);
    compare(`KB for each run that waits, ${rounds} rounds`, each.series(), options);
  },
};

/** Starts runs, 25 at a time, and resolves when all wait. */
async function startWaiting(count: number, start: () => Promise<Run>): Promise<void> {
  for (let started = 0; started < count; started += 25) {
    const batch = Array.from({ length: Math.min(25, count - started) }, async () => {
      await waitingId(await start());
    });
    await Promise.all(batch);
  }
}
