import type { Measure } from '../kit/measure.ts';
import { compare, digits } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage, type WorkerOptions } from '../kit/stage.ts';
import { bare, official, sdk, type Subject } from '../kit/subjects.ts';

const starts: readonly [string, Subject, WorkerOptions][] = [
  ['bare workflow', bare, { withoutBundle: true }],
  ['bare workflow, bundle built ahead', bare, {}],
  ['temporal-agents', sdk, {}],
  ['official plugin', official, { withoutBundle: true }],
  ['official plugin, bundle built ahead', official, {}],
];

/** Each start is a fresh process, for which a run of one turn waits already. */
export const workerStart: Measure = {
  name: 'worker-start',
  about: 'Start of a worker in a fresh process. As each is documented: only temporal-agents ships its bundle',
  run: async ({ quick }) => {
    const create = new Rounds();
    const first = new Rounds();
    const rounds = quick ? 1 : 5;
    await onStage(async ({ startWorker, startRun }) => {
      for (let round = 0; round < rounds; round++) {
        for (const [label, subject, options] of starts) {
          const run = await startRun(subject, { calls: 0, answerBytes: 500, resultBytes: 500 });
          const began = performance.now();
          const worker = await startWorker(subject.party, options);
          await run.result();
          first.add(label, performance.now() - began);
          create.add(label, worker.readyAfterMs);
          await worker.end();
        }
      }
    });
    const options = { show: digits(0), bases: ['bare workflow', 'official plugin'] };
    compare(`ms from Worker.create to polling, ${rounds} rounds`, create.series(), options);
    compare(
      `ms from the start of the process to the end of its first run, ${rounds} rounds`,
      first.series(),
      options,
    );
  },
};
