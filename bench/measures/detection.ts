import { setTimeout as delay } from 'node:timers/promises';
import { sendApproval, waitingId } from '../kit/approvals.ts';
import { begunAgain, eventsOf, firstActivityAfter } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { compare, table } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage, type Run, type Stage, until } from '../kit/stage.ts';
import { bare, official, officialWithHeartbeats, parties, type Party, sdk } from '../kit/subjects.ts';
import type { Task } from '../kit/task.ts';

const subjects = [bare, sdk, official, officialWithHeartbeats];
/** Turns or tools take so long; the worker ends in one, so long after the other one is up, by rounds. */
const LONG_MS = 20_000;
const END_AFTER_MS = [1_000, 3_500, 6_000];
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
    title: 'SIGTERM in a turn',
    task: { ...small, turnMs: LONG_MS },
    signal: 'SIGTERM',
  },
  {
    title: 'SIGTERM in a tool',
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
      const again = new Map<string, Set<string>>();
      for (const { label, value, repeated } of found.flat(2)) {
        seconds.add(label, value);
        again.set(label, (again.get(label) ?? new Set()).add(repeated));
      }
      const bases = { bases: [bare.label, official.label] };
      compare(`s after ${scene.title}, ${rounds} rounds`, seconds.series(), bases);
      table([['what ran again', ''], ...[...again].map(([label, seen]) => [label, [...seen].join('; ')])]);
    }
  },
};

interface Found {
  label: string;
  /** Seconds. */
  value: number;
  repeated: string;
}

async function play(scene: Scene, party: Party, stage: Stage, endAfterMs: number): Promise<Found[]> {
  const first = await stage.startWorker(party);
  const runs = [];
  for (const subject of subjects) {
    if (subject.party !== party) continue;
    const run = await stage.startRun(subject, scene.task);
    runs.push({ subject, run, since: Date.now() });
  }
  const ids = new Map<Run, string>();
  for (const { run } of runs) {
    if (scene.task.approvalsFrom === undefined) await hasLongActivity(run, first.pid);
    else ids.set(run, await waitingId(run));
  }
  const second = await stage.startWorker(party);
  await delay(endAfterMs);
  const endedAt = Date.now();
  const gone = first.end(scene.signal);
  if (ids.size > 0) await gone;
  for (const one of runs) {
    const id = ids.get(one.run);
    one.since = id === undefined ? endedAt : await sendApproval(one.run, id);
  }
  const found: Found[] = [];
  for (const { subject, run, since } of runs) {
    await run.result();
    const events = await eventsOf(stage.client, run);
    found.push({
      label: subject.label,
      value: (firstActivityAfter(events, since, second.pid) - since) / 1_000,
      repeated: begunAgain(events).join(', ') || 'nothing',
    });
  }
  await gone;
  return found;
}

/** Resolves when a run's turn or tool is under way in a process, and takes long. */
async function hasLongActivity(run: Run, pid: number): Promise<void> {
  const underWay = async () => {
    const { pendingActivities } = (await run.describe()).raw;
    return pendingActivities?.some(
      ({ lastStartedTime, lastWorkerIdentity }) =>
        lastWorkerIdentity?.startsWith(`${pid}@`) &&
        Date.now() / 1_000 - Number(lastStartedTime?.seconds) > 2,
    );
  };
  await until(underWay, `a long activity of ${run.workflowId}`);
}
