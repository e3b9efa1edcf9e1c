import { chainSize } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { digits, table } from '../kit/report.ts';
import { onStage } from '../kit/stage.ts';
import { official, parties, sdk } from '../kit/subjects.ts';
import type { Task } from '../kit/task.ts';

/** 800,000 characters, about 200,000 tokens. */
const chat = Array.from({ length: 200 }, (_, i) => `${i} ${'word '.repeat(800)}`.slice(0, 4_000));

/** Each subject once: it ends, or it dies. */
export const longChat: Measure = {
  name: 'long-chat',
  about: 'A chat of 200,000 tokens (800 KB) that goes on with 100 calls of a tool, 5 KB each',
  run: async ({ quick }) => {
    const task: Task = { calls: quick ? 20 : 100, answerBytes: 100, resultBytes: 5_000, chat };
    const rows = [['long chat', 'outcome', 's', 'turns', 'bytes', 'events', 'histories']];
    const show = digits(0);
    await onStage(async ({ client, startWorker, startRun, modelRequests }) => {
      for (const party of parties) await startWorker(party);
      for (const subject of [sdk, official]) {
        const before = await modelRequests();
        const began = performance.now();
        const run = await startRun(subject, task);
        const outcome = await run.result().then(
          () => 'finished',
          (error: Error) => `died: ${error.cause instanceof Error ? error.cause.message : error.message}`,
        );
        const seconds = (performance.now() - began) / 1_000;
        const { bytes, events, histories } = await chainSize(client, run);
        const turns = (await modelRequests()) - before;
        rows.push([subject.label, outcome, ...[seconds, turns, bytes, events, histories].map(show)]);
      }
    });
    table(rows);
  },
};
