import { setTimeout as delay } from 'node:timers/promises';
import { begunAgain, eventsOf, rebuildMs } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { compare, table } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage } from '../kit/stage.ts';
import { bare, official, plain, sdk, type Subject } from '../kit/subjects.ts';
import type { Task } from '../kit/task.ts';

const scene: Task = { calls: 2, answerBytes: 500, resultBytes: 500, callMs: [5_100, 16_600] };
const KILL_AT_MS = 20_300;

/** From the first workflow task that the next process takes to the step that it schedules then. */
export const recovery: Measure = {
  name: 'recovery',
  about:
    'Tools of 5.1 s and 16.6 s, each after a turn; the worker is killed with kill -9 at 20.3 s, another process is started at once',
  run: async ({ quick }) => {
    await killInTool(quick ? 1 : 3);
  },
};

async function killInTool(rounds: number): Promise<void> {
  const rebuilds = new Rounds();
  const ends = new Rounds();
  const repeated = new Map<string, Set<string>>();
  const subjects = [bare, plain, sdk, official];
  for (let round = 0; round < rounds; round++) {
    // At the same time, each on a stage of its own: they mostly wait.
    const played = await Promise.all(subjects.map(killOnce));
    for (const [i, { label }] of subjects.entries()) {
      const { rebuild, end, ran } = played[i]!;
      rebuilds.add(label, rebuild);
      ends.add(label, end);
      repeated.set(label, (repeated.get(label) ?? new Set()).add(ran));
    }
  }
  const bases = { bases: [bare.label, official.label] };
  compare(`ms from its first workflow task to the next step, ${rounds} rounds`, rebuilds.series(), bases);
  compare(`s from the kill to the end of the run, ${rounds} rounds`, ends.series(), bases);
  table([
    ['what ran', 'in each round'],
    ...[...repeated].map(([label, seen]) => [label, [...seen].join('; ')]),
  ]);
}

async function killOnce(subject: Subject): Promise<{ rebuild: number; end: number; ran: string }> {
  return await onStage(async ({ client, startWorker, startRun, modelRequests }) => {
    const first = await startWorker(subject.party);
    const run = await startRun(subject, scene);
    await delay(KILL_AT_MS);
    const killedAt = performance.now();
    await first.end('SIGKILL');
    const second = await startWorker(subject.party);
    await run.result();
    const end = (performance.now() - killedAt) / 1_000;
    const events = await eventsOf(client, run);
    return {
      rebuild: rebuildMs(events, second.pid),
      end,
      ran: [...begunAgain(events), `${await modelRequests()} requests to the model`].join(', '),
    };
  });
}
