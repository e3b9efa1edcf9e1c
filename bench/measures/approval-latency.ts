import { setTimeout as delay } from 'node:timers/promises';
import { sendApproval, waitingId } from '../kit/approvals.ts';
import { eventsOf, firstActivityAfter } from '../kit/histories.ts';
import type { Measure } from '../kit/measure.ts';
import { compare } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';
import { onStage } from '../kit/stage.ts';
import { bare, official, parties, plain, sdk } from '../kit/subjects.ts';

const subjects = [bare, plain, sdk, official];

/** By the server's clock, which is this machine's. */
export const approvalLatency: Measure = {
  name: 'approval-latency',
  about: 'From an approval signal that is sent to the start of the activity it lets go',
  run: async ({ quick }) => {
    const approvals = quick ? 3 : 20;
    const latencies = new Rounds();
    await onStage(async ({ client, startWorker, startRun }) => {
      for (const party of parties) await startWorker(party);
      const task = { calls: approvals, answerBytes: 500, resultBytes: 500, approvalsFrom: 0 };
      const runs = await Promise.all(
        subjects.map(async (subject) => ({
          subject,
          run: await startRun(subject, task),
          sent: [] as number[],
        })),
      );
      for (let i = 0; i < approvals; i++) {
        for (const { run, sent } of runs) {
          const id = await waitingId(run);
          await delay(500);
          sent.push(await sendApproval(run, id));
        }
      }
      for (const { subject, run, sent } of runs) {
        await run.result();
        const events = await eventsOf(client, run);
        for (const at of sent) latencies.add(subject.label, firstActivityAfter(events, at) - at);
      }
    });
    compare(`ms, ${approvals} approvals`, latencies.series(), { bases: [bare.label, official.label] });
  },
};
