/** The limit: the same activities one after the other, with nothing between them and Temporal. */
import { condition, defineQuery, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import { callOf, needsApproval, type Call, type Task } from './kit/task.ts';

interface Activities {
  turn: (call: Call) => Promise<string>;
  lookup: (call: Call) => Promise<string>;
}
const { turn, lookup } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
});

export async function bare(task: Task): Promise<void> {
  let approved = 0;
  let asked = 0;
  setHandler(defineSignal('approve'), () => void approved++);
  setHandler(defineQuery('waiting'), () => ({
    approvals: asked > approved ? [{ id: `guarded-${asked}` }] : [],
  }));
  for (let i = 0; i <= task.calls; i++) {
    await turn({ i, bytes: task.answerBytes, ms: task.turnMs ?? 0 });
    if (i === task.calls) break;
    if (needsApproval(task, i)) {
      asked++;
      await condition(() => approved >= asked);
    }
    await lookup(callOf(task, i));
  }
}
