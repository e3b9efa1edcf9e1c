import { compare, line } from '../kit/report.ts';
import { onStage, UNTUNED } from '../kit/stage.ts';
import type { Measure } from '../kit/measure.ts';
import { bare, official, plain, sdk, type Subject } from '../kit/subjects.ts';
import type { Task } from '../kit/task.ts';

const task: Task = { calls: 29, answerBytes: 500, resultBytes: 500 };
const steps = 2 * task.calls + 1;
const subjects = [bare, plain, sdk, official];

/** One run at a time, from its start to its result, divided by its steps. */
export const timePerStep: Measure = {
  name: 'time-per-step',
  about: '30 turns and 29 tools one after the other, one run at a time, milliseconds a step',
  run: async ({ quick }) => {
    const rounds = quick ? 2 : 9;
    line('Dev server with history.transferProcessorMaxPollRPS=2000, as `startDevServer` starts it:');
    await measure({}, rounds);
    line('Dev server with its own default, history.transferProcessorMaxPollRPS=20:');
    await measure(UNTUNED, quick ? 1 : 5);
  },
};

async function measure(dynamicConfig: Record<string, number>, rounds: number): Promise<void> {
  const times = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
  await onStage(async ({ startWorker, startRun }) => {
    for (const party of ['bare', 'agents', 'official'] as const) await startWorker(party);
    for (let round = 0; round <= rounds; round++) {
      for (const subject of subjects) {
        const began = performance.now();
        await (await startRun(subject, task)).result();
        // The first round warms up.
        if (round > 0) times.get(subject)!.push((performance.now() - began) / steps);
      }
    }
  }, dynamicConfig);
  const series = subjects.map((subject) => ({ label: subject.label, values: times.get(subject)! }));
  compare(`ms a step, ${rounds} rounds`, series, { bases: [bare.label, official.label] });
}
