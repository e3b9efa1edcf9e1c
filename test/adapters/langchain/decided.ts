/** People who decide what an agent of LangChain waits for, its worker replaced while they think. */
import { tool as ownTool } from 'langchain';
import { z } from 'zod';
import {
  type Agent as DurableAgent,
  agent,
  answer,
  approve,
  records,
  reject,
  tool,
} from '../../../src/index.ts';
import { client, unique } from '../../kit/temporal.ts';
import { untilAsked, untilWaiting } from '../../kit/waiting-runs.ts';
import { QUICK_START, startWorker } from '../../kit/workers.ts';

type Decision = { id: string } & (
  | { approve: true; arguments?: unknown }
  | { reason?: string }
  | { value: unknown }
);

/** What bodies of tools did since the last run began. */
export const ran: string[] = [];
export const transfer = ownTool(
  ({ amount }) => {
    ran.push(`transfer ${amount}`);
    return `moved ${amount}`;
  },
  { name: 'transfer', description: 'Moves money.', schema: z.object({ amount: z.number() }) },
);

/** Runs an agent; each time it waits for all these ids its worker is replaced, and then they are decided in their order. */
export async function decided(body: () => Promise<unknown>, ...rounds: Decision[][]) {
  ran.length = 0;
  const taskQueue = unique('people');
  const asker: DurableAgent<void> = agent('asker', body as () => Promise<void>);
  const start = async () => await startWorker({ taskQueue, plugin: { agents: [asker], tools: [note] } });
  let worker = await start();
  const { workflow } = await client();
  const handle = await workflow.start('asker', { taskQueue, workflowId: taskQueue, ...QUICK_START });
  const waited: object[] = [];
  for (const round of rounds) {
    const ids = (questions: boolean) =>
      round.filter((each) => 'value' in each === questions).map(({ id }) => id);
    waited.push(...(await untilWaiting(handle, ids(false))), ...(await untilAsked(handle, ids(true))));
    await worker.stop();
    worker = await start();
    for (const decision of round) {
      if ('value' in decision) await handle.signal(answer, decision);
      else if ('approve' in decision) {
        const { approve: _, ...how } = decision;
        await handle.signal(approve, how);
      } else await handle.signal(reject, decision);
    }
  }
  const result: unknown = await handle.result();
  const all = await handle.query(records);
  await worker.stop();
  return { result, waited, records: all };
}

export const note = tool({
  name: 'note',
  description: 'Notes.',
  parameters: z.object({ what: z.string() }),
  execute: ({ what }) => {
    ran.push(`note ${what}`);
    return 'noted';
  },
});
