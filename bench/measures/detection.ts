import { setTimeout as delay } from 'node:timers/promises';
import { sendApproval, waitingId } from '../kit/approvals.ts';
import { eventsOf, firstActivityAfter } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { compare } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage, type Run, type Stage } from '../kit/stage.ts';
import { bare, official, officialWithHeartbeats, parties, type Party, sdk } from '../kit/subjects.ts';
import type { Task } from '../kit/task.ts';

const subjects = [bare, sdk, official, officialWithHeartbeats];
/** Turns or tools take so long, and the worker ends in one, after another time in each round. */
const LONG_MS = 12_000;
const END_AFTER_MS = [4_000, 6_500, 9_000];
const small = { calls: 1, answerBytes: 500, resultBytes: 500 };

/** In what, and how, the first worker ends. */
interface Scene {
  title: string;
  task: Task;
  signal: 'SIGKILL' | 'SIGTERM';
}

const scenes: readonly Scene[] = [
  { title: 'kill -9 in a turn', task: { ...small, turnMs: LONG_MS }, signal: 'SIGKILL' },
  { title: 'kill -9 in a tool', task: { ...small, callMs: [LONG_MS] }, signal: 'SIGKILL' },
  {
    title: 'an approval, sent after kill -9 while the run waited for it',
    task: { ...small, approvalsFrom: 0 },
    signal: 'SIGKILL',
  },
  {
    title: 'SIGTERM in a turn with 8, 5.5 and 3 s to go',
    task: { ...small, turnMs: LONG_MS },
    signal: 'SIGTERM',
  },
  {
    title: 'SIGTERM in a tool with 8, 5.5 and 3 s to go',
    task: { ...small, callMs: [LONG_MS] },
    signal: 'SIGTERM',
  },
];

/** Two processes; the time ends with the first activity of the run that the second one starts. */
export const detection: Measure = {
  name: 'detection',
  about: 'From the end of a worker until another one, which is up already, goes on with the run',
  run: async ({ quick }) => {
    const rounds = quick ? 1 : 3;
    for (const scene of scenes) {
      // All at the same time, each round on a stage of its own: they mostly wait.
      const found = await Promise.all(
        END_AFTER_MS.slice(0, rounds).map(
          async (endAfterMs) =>
            await onStage(
              async (stage) =>
                await Promise.all(parties.map(async (party) => await play(scene, party, stage, endAfterMs))),
            ),
        ),
      );
      const seconds = new Rounds();
      for (const [label, value] of found.flat(2)) seconds.add(label, value);
      const bases = { bases: [bare.label, official.label] };
      compare(`s after ${scene.title}, ${rounds} rounds`, seconds.series(), bases);
    }
  },
};

async function play(
  scene: Scene,
  party: Party,
  stage: Stage,
  endAfterMs: number,
): Promise<[label: string, seconds: number][]> {
  const first = await stage.startWorker(party);
  const runs = [];
  for (const subject of subjects) {
    if (subject.party !== party) continue;
    const run = await stage.startRun(subject, scene.task);
    runs.push({ subject, run, since: Date.now() });
  }
  const middle = delay(endAfterMs);
  const ids = new Map<Run, string>();
  if (scene.task.approvalsFrom !== undefined) for (const { run } of runs) ids.set(run, await waitingId(run));
  const second = await stage.startWorker(party);
  await middle;
  const endedAt = Date.now();
  const gone = first.end(scene.signal);
  if (ids.size > 0) await gone;
  for (const one of runs) {
    const id = ids.get(one.run);
    one.since = id === undefined ? endedAt : await sendApproval(one.run, id);
  }
  const found: [string, number][] = [];
  for (const { subject, run, since } of runs) {
    await run.result();
    const events = await eventsOf(stage.client, run);
    found.push([subject.label, (firstActivityAfter(events, since, second.pid) - since) / 1_000]);
  }
  await gone;
  return found;
}
