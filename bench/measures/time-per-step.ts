import type { Measure } from '../kit/measure.ts';
import { compare, line } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage, UNTUNED } from '../kit/stage.ts';
import { bare, official, parties, plain, sdk } from '../kit/subjects.ts';
import type { Task } from '../kit/task.ts';

const task: Task = { calls: 29, answerBytes: 500, resultBytes: 500 };
const steps = 2 * task.calls + 1;

/** One run at a time, from its start to its result, divided by its steps. */
export const timePerStep: Measure = {
  name: 'time-per-step',
  about: '30 turns and 29 tools one after the other, one run at a time',
  run: async ({ quick }) => {
    line('Dev server with history.transferProcessorMaxPollRPS=2000, as `startDevServer` starts it:');
    await measure({}, quick ? 2 : 9);
    line('Dev server with its own default, history.transferProcessorMaxPollRPS=20:');
    await measure(UNTUNED, quick ? 1 : 5);
  },
};

async function measure(dynamicConfig: Record<string, number>, rounds: number): Promise<void> {
  const times = new Rounds();
  await onStage(async ({ startWorker, startRun }) => {
    for (const party of parties) await startWorker(party);
    for (let round = 0; round <= rounds; round++) {
      for (const subject of [bare, plain, sdk, official]) {
        const began = performance.now();
        await (await startRun(subject, task)).result();
        // The first round warms up.
        if (round > 0) times.add(subject.label, (performance.now() - began) / steps);
      }
    }
  }, dynamicConfig);
  compare(`ms a step, ${rounds} rounds`, times.series(), { bases: [bare.label, official.label] });
}
