/** Runs agents twice over, live and from their records in another worker, so that what they saw can be compared. */
import { type Agent, agent, approve, records, type StepRecord } from '../../src/index.ts';
import { gate } from '../fixtures/gate.ts';
import { client, unique } from './temporal.ts';
import { untilWaiting } from './waiting-runs.ts';
import { QUICK_START, startWorker } from './workers.ts';

/** An agent's code, which gives all that it saw. */
export type Scenario = () => Promise<unknown>;

export interface Outcome {
  /** What the scenario gave in the first worker, and in the second, where it was answered from the records. */
  live: unknown;
  rebuilt: unknown;
  /** All records but those of the gate between the two. */
  records: StepRecord[];
}

/** Runs all scenarios side by side, stops their worker when each has come to its end, and lets another start them again. */
export async function liveAndRebuilt(scenarios: Record<string, Scenario>): Promise<Record<string, Outcome>> {
  const taskQueue = unique('live-and-rebuilt');
  const seen: Record<string, unknown[]> = {};
  const scenario: Agent<string> = agent('scenario', async (name: string) => {
    const saw: unknown = await scenarios[name]!().catch((error: Error) => ({ threw: error.stack }));
    (seen[name] ??= []).push(saw);
    await gate({});
  });
  const { workflow } = await client();
  const first = await startWorker({ taskQueue, plugin: { agents: [scenario] } });
  const handles = await Promise.all(
    Object.keys(scenarios).map(async (name) => {
      const workflowId = `${taskQueue}-${name}`;
      return [
        name,
        await workflow.start(scenario, { taskQueue, workflowId, args: [name], ...QUICK_START }),
      ] as const;
    }),
  );
  for (const [, handle] of handles) await untilWaiting(handle);
  await first.stop();
  const second = await startWorker({ taskQueue, plugin: { agents: [scenario] } });
  const outcomes: Record<string, Outcome> = {};
  for (const [, handle] of handles) await handle.signal(approve, { id: 'gate-1' });
  for (const [name, handle] of handles) {
    await handle.result();
    const all = await handle.query(records);
    const [live, ...more] = seen[name]!;
    outcomes[name] = { live, rebuilt: more.at(-1), records: all.filter((record) => record.name !== 'gate') };
  }
  await second.stop();
  return outcomes;
}
