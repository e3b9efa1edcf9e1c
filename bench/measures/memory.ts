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
    const waiting = quick ? 200 : 2_000;
    const results = { idle: new Rounds(), loaded: new Rounds(), full: new Rounds(), each: new Rounds() };
    for (let round = 0; round < rounds; round++) {
      for (const subject of [bare, plain, sdk, official]) {
        await afterLoad(subject, results);
        await whileWaiting(subject, waiting, results);
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
    show(`MB with ${waiting} runs that wait`, results.full);
    show(`KB a run that waits, from ${waiting / 10} to ${waiting} of them`, results.each);
  },
};

type Results = Record<'idle' | 'loaded' | 'full' | 'each', Rounds>;

async function afterLoad(subject: Subject, { idle, loaded }: Results): Promise<void> {
  await onStage(async ({ startWorker, startRun }) => {
    const worker = await startWorker(subject.party);
    idle.add(subject.label, (await worker.memory()) / MB);
    const runs = Array.from({ length: 30 }, async () => await startRun(subject, { ...small, calls: 29 }));
    for (const run of runs) await (await run).result();
    loaded.add(subject.label, (await worker.memory()) / MB);
  });
}

async function whileWaiting(subject: Subject, count: number, { full, each }: Results): Promise<void> {
  await onStage(async ({ startWorker, startRun }) => {
    const worker = await startWorker(subject.party);
    let waiting = 0;
    const upTo = async (target: number) => {
      while (waiting < target) {
        const batch = Array.from({ length: Math.min(25, target - waiting) }, async () => {
          await waitingId(await startRun(subject, { ...small, calls: 1, approvalsFrom: 0 }));
        });
        await Promise.race([Promise.all(batch), worker.died]);
        waiting += batch.length;
      }
      // What is watched beside a wait is watched for 5 s.
      await delay(8_000);
      return await worker.memory();
    };
    try {
      const before = await upTo(count / 10);
      const after = await upTo(count);
      full.add(subject.label, after / MB);
      each.add(subject.label, (after - before) / (0.9 * count) / 1_000);
    } catch (error) {
      line(`${subject.label} came to ${waiting} waiting runs: ${(error as Error).message}`);
    }
  });
}
