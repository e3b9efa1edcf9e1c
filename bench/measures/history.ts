import { chainSize } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { digits, table } from '../kit/report.ts';
import { onStage } from '../kit/stage.ts';
import { bare, official, parties, plain, sdk } from '../kit/subjects.ts';

/** Bytes and events of one run; they are the same each time, so each is run once. */
export const history: Measure = {
  name: 'history',
  about: 'Bytes and events of history of one run, all that it continued as included',
  run: async ({ quick }) => {
    const show = digits(0);
    await onStage(async ({ client, startWorker, startRun }) => {
      for (const party of parties) await startWorker(party);
      for (const resultBytes of [500, 5_000]) {
        const rows = [
          [
            `answers of 500 bytes, results of ${show(resultBytes)}`,
            'turns',
            'bytes',
            'events',
            'histories',
            'bytes of official',
          ],
        ];
        for (const turns of quick ? [10] : [10, 30, 100]) {
          const sizes = [];
          for (const subject of [bare, plain, sdk, official]) {
            const run = await startRun(subject, { calls: turns - 1, answerBytes: 500, resultBytes });
            await run.result();
            sizes.push({ label: subject.label, ...(await chainSize(client, run)) });
          }
          const theirs = sizes.at(-1)!.bytes;
          for (const { label, bytes, events, histories } of sizes)
            rows.push([
              label,
              String(turns),
              show(bytes),
              show(events),
              String(histories),
              digits(2)(bytes / theirs),
            ]);
        }
        table(rows);
      }
    });
  },
};
