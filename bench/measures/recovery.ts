import { setTimeout as delay } from 'node:timers/promises';
import { sendApproval, waitingId } from '../kit/approvals.ts';
import { chainSize, eventsOf, rebuildMs, type HistoryEvent } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { compare, digits, line, table } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage } from '../kit/stage.ts';
import { bare, official, plain, sdk, type Subject } from '../kit/subjects.ts';
import type { Task } from '../kit/task.ts';

const scene: Task = { calls: 2, answerBytes: 500, resultBytes: 500, callMs: [5_100, 16_600] };
const KILL_AT_MS = 20_300;

/** From the first workflow task that the next process takes to the step that it schedules then. */
export const recovery: Measure = {
  name: 'recovery',
  about: 'A worker is killed with kill -9, another process takes over',
  run: async ({ quick }) => {
    line(
      'Tools of 5.1 s and 16.6 s, each after a turn; killed at 20.3 s; another process is started at once:',
    );
    await killInTool(quick ? 1 : 3);
    line(
      'So many recorded steps, then an approval; killed while it waits, approved once another process polls:',
    );
    await rebuild(quick ? 100 : 1_000, quick ? 1 : 3);
  },
};

async function killInTool(rounds: number): Promise<void> {
  const rebuilds = new Rounds();
  const ends = new Rounds();
  const repeated = new Map<string, Set<string>>();
  for (let round = 0; round < rounds; round++) {
    for (const subject of [bare, plain, sdk, official]) {
      await onStage(async ({ client, startWorker, startRun, modelRequests }) => {
        const first = await startWorker(subject.party);
        const run = await startRun(subject, scene);
        await delay(KILL_AT_MS);
        const killedAt = performance.now();
        await first.end('SIGKILL');
        const second = await startWorker(subject.party);
        await run.result();
        ends.add(subject.label, (performance.now() - killedAt) / 1_000);
        const events = await eventsOf(client, run);
        rebuilds.add(subject.label, rebuildMs(events, second.pid));
        const seen = repeated.get(subject.label) ?? new Set();
        repeated.set(subject.label, seen.add(whatRan(events, await modelRequests())));
      });
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

/** Says how often each activity was begun that was begun more than once, and how many turns there were. */
function whatRan(events: readonly HistoryEvent[], modelRequests: number): string {
  const started = events.flatMap((event) => event.activityTaskStartedEventAttributes ?? []);
  const again = started.filter(({ attempt }) => (attempt ?? 1) > 1);
  const names = again.map(({ scheduledEventId, attempt }) => {
    const scheduled = events.find(({ eventId }) => String(eventId) === String(scheduledEventId));
    return `${scheduled?.activityTaskScheduledEventAttributes?.activityType?.name} begun ${attempt} times`;
  });
  return [...names, `${modelRequests} requests to the model`].join(', ');
}

async function rebuild(steps: number, rounds: number): Promise<void> {
  const rebuilds = new Rounds();
  const rows = [['before the kill', 'activities', 'bytes of history', 'histories']];
  for (const subject of [bare, plain, sdk, official]) {
    await onStage(async ({ client, startWorker, startRun }) => {
      let worker = await startWorker(subject.party);
      // One approval for each round, and one more.
      const calls = steps / 2 + rounds;
      const task: Task = { calls, answerBytes: 0, resultBytes: 10, approvalsFrom: steps / 2 };
      const run = await startRun(subject, task);
      const died = run.result().then(
        () => undefined,
        (error: Error) => error,
      );
      const id = await Promise.race([waitingId(run).catch((error: Error) => error), died]);
      const { activities, bytes, histories } = await chainSize(client, run);
      const show = digits(0);
      rows.push([subject.label, show(activities), show(bytes), show(histories)]);
      if (typeof id !== 'string') {
        rows.push([subject.label, `dies: ${id?.cause ?? id}`, '', '']);
        return;
      }
      for (let round = 0; round < rounds; round++) {
        const next = await waitingId(run);
        await worker.end('SIGKILL');
        worker = await startWorker(subject.party);
        await sendApproval(run, next);
        if (round < rounds - 1) await waitingId(run);
        else await run.result();
        rebuilds.add(subject.label, rebuildMs(await eventsOf(client, run), worker.pid));
      }
    });
  }
  compareKnown(`ms from its first workflow task to the next step, ${rounds} rounds`, rebuilds, official);
  table(rows);
}

function compareKnown(title: string, rounds: Rounds, base: Subject): void {
  const series = rounds.series();
  const known = series.some(({ label }) => label === base.label);
  compare(title, series, { show: digits(0), bases: known ? [bare.label, base.label] : [bare.label] });
}
