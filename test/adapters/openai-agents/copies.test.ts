/** Both builds of the SDK are instrumented, and an approved call whose worker died is not repeated without asking. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { approve, records } from '../../../src/index.ts';
import { startScriptedProvider, type ScriptedProvider } from '../../../src/testing/index.ts';
import { newEffects, tally } from '../../kit/effects.ts';
import { client, unique, until } from '../../kit/temporal.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../../kit/workers.ts';

const module = new URL('../../fixtures/openai-agents-copies.ts', import.meta.url).href;
let provider: ScriptedProvider;

beforeAll(async () => {
  provider = await startScriptedProvider(({ messages }) => {
    const results = messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    if (results.length > 0) return { text: results.join(' | ') };
    return { toolCalls: [10, 500].map((amount) => ({ name: 'transfer', arguments: { amount } })) };
  });
});
afterAll(async () => await provider.stop());

test.each([
  ['imports', 'imported'],
  ['requires', 'required'],
])(
  'what %s the SDK is durable, over kill -9 while it waits and while an approved tool runs',
  async (name, copy) => {
    const taskQueue = unique(name);
    const log = newEffects();
    const spawn = async (env: Record<string, string> = {}) =>
      await spawnWorker({
        taskQueue,
        module,
        plugin: QUICK_PLUGIN,
        worker: QUICK_WORKER,
        env: { EFFECTS: log, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: provider.url, ...env },
      });
    const first = await spawn();
    const { workflow } = await client();
    const handle = await workflow.start(name, { taskQueue, workflowId: taskQueue, ...QUICK_START });
    expect(await untilWaiting(handle, ['transfer-1'])).toMatchObject([
      { input: { amount: 500 }, prompt: 'Run transfer?' },
    ]);
    await first.kill();

    const second = await spawn({ DIES: 'with the transfer' });
    await handle.signal(approve, { id: 'transfer-1' });
    await second.ended;
    expect(tally(log)[`${name} transfers 500`]).toBe(1);

    const third = await spawn();
    // A query while a task that has not completed waits makes Core take its events in another order than a replay does.
    await until(async () => {
      const { events } = await handle.fetchHistory();
      const call = events!.findLast(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'agents.call',
      );
      const lost = events!.findIndex((event) => {
        return (
          event.activityTaskTimedOutEventAttributes?.scheduledEventId?.toString() ===
          call!.eventId!.toString()
        );
      });
      return lost > 0 && events!.slice(lost).some((event) => event.workflowTaskCompletedEventAttributes);
    }, 'the loss of the second worker is noticed');
    const [uncertain] = await untilWaiting(handle, ['transfer-2']);
    expect(uncertain!.prompt).toContain('may or may not have had its effect');
    expect(tally(log)[`${name} transfers 500`]).toBe(1);
    await handle.signal(approve, { id: 'transfer-2' });
    expect(await handle.result()).toMatchObject({ finalOutput: 'moved 10 | moved 500', class: copy });
    expect(tally(log)).toMatchObject({ [`${name} transfers 10`]: 1, [`${name} transfers 500`]: 2 });
    expect(provider.count(({ body }) => body['instructions'] === name)).toBe(2);
    expect((await handle.query(records)).map(({ kind }) => kind)).toEqual([
      'turn',
      'tool',
      'approval',
      'tool',
      'turn',
    ]);
    await third.kill();
  },
);
