/** Runs of any length: continue-as-new carries the records, and history stays small. */
import { expect, test } from '@jest/globals';
import { records } from '../../src/index.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, eventsOf, historyBytes, repeatedSteps, until } from '../kit/temporal.ts';

test('100 turns and 300 steps go through continue-as-new, killed once on the way, and nothing is repeated', async () => {
  // The soak has a thousand turns, and lets the server say when.
  await using stage = await scene('marathon-agents', { plugin: { continueAfterRecords: 120 } });
  const first = await stage.spawn();
  const handle = await stage.start('marathon', { id: 'm', turns: 100 });
  await until(() => stage.provider.requests.length >= 50, 'half of the turns');
  await first.kill();
  await stage.spawn();
  expect(await handle.result()).toEqual({ turns: 100, marked: 200 });
  const histories = await chainOf(handle);
  expect(histories.length).toBeGreaterThan(1);
  expect(repeatedSteps(histories)).toEqual([]);
  // What was under way at the kill may have been done twice: one turn, or two tools.
  expect(stage.provider.requests.length).toBeLessThanOrEqual(101);
  expect(Object.keys(stage.tally())).toHaveLength(200);
  expect(Object.values(stage.tally()).reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(202);
  await assertReplays(histories);
}, 240_000);

test('a chat of 30 turns leaves its answers and at most 2,500 bytes a step in history', async () => {
  await using stage = await scene('marathon-agents');
  await stage.spawn();
  const handle = await stage.start('chat', { id: 'c', turns: 30 });
  await handle.result();
  const answers = await handle.query(records);
  expect(answers).toHaveLength(59);
  // The loop is asked once, to be built: what it asks next comes along with each answer, and its end with the last.
  expect(eventsOf(await chainOf(handle), 'markerRecorded')).toHaveLength(1);
  const bytes = answers.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0);
  const history = await historyBytes(handle);
  process.stdout.write(`30 turns, 29 tools: ${history} bytes of history, ${bytes} of answers\n`);
  expect(history).toBeLessThanOrEqual(bytes + 59 * 2_500);
});

test('records that no next run can carry end the run once, by the name of the step, its size and the limit', async () => {
  await using stage = await scene('marathon-agents');
  await stage.spawn();
  const handle = await stage.start('hoarder', undefined);
  await expect(handle.result()).rejects.toMatchObject({
    cause: {
      type: 'RecordsTooLargeError',
      message: expect.stringMatching(
        /^Cannot continue as new: the records have \d+ bytes, the limit is 1500000; the largest is tool bulk with 19\d{5} bytes\. With a blob store it is higher: give "blobs" to AgentsPlugin\.$/,
      ),
    },
  });
  const { raw } = await handle.describe();
  expect(Number(raw.workflowExecutionInfo?.historySizeBytes)).toBeLessThan(50 * 1024 * 1024);
}, 240_000);
