import type { Measure } from '../kit/measure.ts';
import { compare } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage } from '../kit/stage.ts';
import { bare, official, parties, plain, sdk } from '../kit/subjects.ts';

/** From the start of the first run to the end of the last, on one worker. */
export const atOnce: Measure = {
  name: 'at-once',
  about: 'Many runs at once on one worker, from the start of the first to the end of the last',
  run: async ({ quick }) => {
    await measure(30, 30, quick ? 1 : 3);
    await measure(quick ? 60 : 200, 10, quick ? 1 : 2);
  },
};

async function measure(runs: number, turns: number, rounds: number): Promise<void> {
  const seconds = new Rounds();
  await onStage(async ({ startWorker, startRun }) => {
    for (const party of parties) await startWorker(party);
    for (const subject of [bare, plain, sdk, official])
      await (await startRun(subject, { calls: 9, answerBytes: 500, resultBytes: 500 })).result();
    for (let round = 0; round < rounds; round++) {
      for (const subject of [bare, plain, sdk, official]) {
        const began = performance.now();
        const task = { calls: turns - 1, answerBytes: 500, resultBytes: 500 };
        await Promise.all(
          Array.from({ length: runs }, async () => await (await startRun(subject, task)).result()),
        );
        seconds.add(subject.label, (performance.now() - began) / 1_000);
      }
    }
  });
  compare(`s for ${runs} runs of ${turns} turns, ${rounds} rounds`, seconds.series(), {
    bases: [bare.label, official.label],
  });
}
