import { setTimeout as delay } from 'node:timers/promises';
import { sendApproval, waitingId } from '../kit/approvals.ts';
import { chainSize, eventsOf, rebuildMs, type HistoryEvent } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { compare, digits, line, table } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage, until } from '../kit/stage.ts';
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
    await rebuildMany(quick ? 100 : 1_000, quick ? 1 : 3);
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
    return { rebuild: rebuildMs(events, second.pid), end, ran: whatRan(events, await modelRequests()) };
  });
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

async function rebuildMany(steps: number, rounds: number): Promise<void> {
  const rebuilds = new Rounds();
  const rows = [['before the first kill', 'activities', 'bytes of history', 'histories']];
  for (const subject of [bare, plain, sdk, official]) {
    await onStage(async ({ client, startWorker, startRun }) => {
      let worker = await startWorker(subject.party);
      // One approval for each round.
      const calls = steps / 2 + rounds;
      const run = await startRun(subject, {
        calls,
        answerBytes: 0,
        resultBytes: 10,
        approvalsFrom: steps / 2,
      });
      const died = run.result().then(
        () => 'it ended',
        (error: Error) => (error.cause instanceof Error ? error.cause.message : error.message),
      );
      for (let round = 0; round < rounds; round++) {
        const found = await Promise.race([waitingId(run), died.then((why) => ({ why }))]);
        if (round === 0) {
          const { activities, bytes, histories } = await chainSize(client, run);
          rows.push([subject.label, ...[activities, bytes, histories].map(digits(0))]);
        }
        if (typeof found !== 'string') {
          line(`${subject.label} did not come to the approval: ${found.why}`);
          return;
        }
        await worker.end('SIGKILL');
        worker = await startWorker(subject.party);
        await sendApproval(run, found);
        // No query: it would have the history replayed once more.
        const rebuilt = async () => rebuildMs(await eventsOf(client, run), worker.pid);
        await until(async () => !Number.isNaN(await rebuilt()), 'the next step', 600_000, 1_000);
        rebuilds.add(subject.label, await rebuilt());
      }
    });
  }
  const series = rebuilds.series();
  const bases = [bare, official]
    .map(({ label }) => label)
    .filter((label) => series.some((one) => one.label === label));
  compare(`ms from its first workflow task to the next step, ${rounds} rounds`, series, {
    show: digits(0),
    bases,
  });
  table(rows);
}
