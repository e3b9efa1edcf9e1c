import { setTimeout as delay } from 'node:timers/promises';
import { waitingId } from '../kit/approvals.ts';
import type { Measure } from '../kit/measure.ts';
import { compare, digits, line } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage } from '../kit/stage.ts';
import { bare, official, plain, sdk, type Subject } from '../kit/subjects.ts';

const small = { answerBytes: 500, resultBytes: 500 };
const MB = 1e6;

/** Resident memory of the worker's process, all settings as they are by default; each load meets a fresh process. */
export const memory: Measure = {
  name: 'memory',
  about:
    'Resident memory of a worker process: idle, after 30 runs at once, and with runs that wait for approval',
  run: async ({ quick }) => {
    const rounds = quick ? 1 : 2;
    const counts = quick ? [20, 100, 200] : [100, 500, 2_000];
    const results = {
      idle: new Rounds(),
      loaded: new Rounds(),
      waiting: counts.map(() => new Rounds()),
    };
    for (let round = 0; round < rounds; round++) {
      for (const subject of [bare, plain, sdk, official]) {
        await afterLoad(subject, results);
        await whileWaiting(subject, counts, results.waiting);
      }
    }
    const show = (title: string, of: Rounds) => {
      const series = of.series();
      const bases = [bare, official].map(({ label }) => label);
      const known = bases.filter((label) => series.some((each) => each.label === label));
      compare(`${title}, ${rounds} rounds`, series, { show: digits(0), bases: known });
    };
    show('MB, idle', results.idle);
    show('MB after 30 runs of 30 turns at once', results.loaded);
    for (const [i, of] of results.waiting.entries()) show(`MB with ${counts[i]} runs that wait`, of);
  },
};

async function afterLoad(
  subject: Subject,
  { idle, loaded }: Record<'idle' | 'loaded', Rounds>,
): Promise<void> {
  await onStage(async ({ startWorker, startRun }) => {
    const worker = await startWorker(subject.party);
    idle.add(subject.label, (await worker.memory()) / MB);
    const runs = Array.from({ length: 30 }, async () => await startRun(subject, { ...small, calls: 29 }));
    for (const run of runs) await (await run).result();
    loaded.add(subject.label, (await worker.memory()) / MB);
  });
}

async function whileWaiting(
  subject: Subject,
  counts: readonly number[],
  results: readonly Rounds[],
): Promise<void> {
  await onStage(async ({ startWorker, startRun }) => {
    const worker = await startWorker(subject.party);
    let waiting = 0;
    const startOne = async () =>
      void (await waitingId(await startRun(subject, { ...small, calls: 1, approvalsFrom: 0 })));
    try {
      for (const [i, count] of counts.entries()) {
        while (waiting < count) {
          const batch = Array.from({ length: Math.min(50, count - waiting) }, startOne);
          await Promise.race([Promise.all(batch), worker.died]);
          waiting += batch.length;
        }
        // What is watched beside a wait is watched for 5 s.
        await delay(8_000);
        const now = (await worker.memory()) / MB;
        results[i]!.add(subject.label, now);
        // As it comes: this takes long, and a worker may die of it.
        line(`${subject.label}: ${now.toFixed(0)} MB with ${count} runs that wait`);
      }
    } catch (error) {
      line(`${subject.label} came to ${waiting} waiting runs: ${(error as Error).message}`);
    }
  });
}
