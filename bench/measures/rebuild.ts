import { sendApproval, waitingId } from '../kit/approvals.ts';
import { chainSize, eventsOf, rebuildMs } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { compare, digits, line, table } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage, until } from '../kit/stage.ts';
import { bare, official, plain, sdk } from '../kit/subjects.ts';

/** From the first workflow task that the next process takes to the step that it schedules then. */
export const rebuild: Measure = {
  name: 'rebuild',
  about:
    'So many recorded steps, then an approval; the worker is killed with kill -9 while the run waits, and it is approved once another process polls',
  run: async ({ quick }) => {
    const rounds = quick ? 1 : 3;
    for (const steps of quick ? [100] : [200, 1_000]) {
      line(`${steps} steps:`);
      await measure(steps, rounds);
    }
  },
};

async function measure(steps: number, rounds: number): Promise<void> {
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
