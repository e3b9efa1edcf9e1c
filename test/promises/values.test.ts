import { beforeAll, describe, expect, test } from '@jest/globals';
import { approve } from '../../src/index.ts';
import { newEffects, tally } from '../kit/effects.ts';
import { spawnRespawning } from '../kit/respawning.ts';
import { client, unique, until } from '../kit/temporal.ts';
import { sightings, untilWaiting } from '../kit/waiting-runs.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../kit/workers.ts';

const module = new URL('../fixtures/value-agents.ts', import.meta.url).href;
const options = (taskQueue: string, log: string) => ({
  taskQueue,
  module,
  plugin: QUICK_PLUGIN,
  worker: QUICK_WORKER,
  env: { EFFECTS: log },
});

let collecting: Promise<string>;

/** One run for each way, side by side, their worker killed when all has been seen. Gives the path of the effects. */
async function collect(): Promise<string> {
  const taskQueue = unique('values');
  const log = newEffects();
  const first = await spawnWorker(options(taskQueue, log));
  const { workflow } = await client();
  const handles = await Promise.all(
    ['tool', 'local tool', 'step'].map(async (way) => {
      const workflowId = `${taskQueue}-${way}`;
      return await workflow.start('collector', { taskQueue, workflowId, args: [way], ...QUICK_START });
    }),
  );
  for (const handle of handles) await untilWaiting(handle);
  await first.kill();
  const second = await spawnWorker(options(taskQueue, log));
  for (const handle of handles) {
    await handle.signal(approve, { id: 'gate-1' });
    await handle.result();
  }
  await second.kill();
  return log;
}

beforeAll(async () => {
  collecting = collect();
  await collecting;
});

type Error = Record<string, unknown>;
const value = (seen: unknown, type = 'object', Class = 'Object') => ({ type, class: Class, value: seen });
const text = (seen: string) => value(seen, 'string', 'String');
const failure = (name: string, message: string, more: Error = {}) => ({
  error: { class: 'Error', name, message, ...more },
});

/** What the agent sees of each value, live and after a restart, and how often the tool or step ran for it. */
const accepted: [what: string, seen: unknown, runs: number][] = [
  ['nothing', { type: 'undefined' }, 1],
  ['null', { type: 'object', value: null }, 1],
  ['date', text('1970-01-01T00:00:00.000Z'), 1],
  ['NaN', value([null, null, 0], 'object', 'Array'), 1],
  ['undefined inside', value({ list: [1, null] }), 1],
  ['instance', value({ x: 1 }), 1],
  ['what looks like an envelope of ours', value({ value: 1, __agents_ahead: { epoch: 'x' } }), 1],
  ['text', text('ä\u0000"\ud83d\ude00'), 1],
  ['almost 2 MB', { type: 'string', class: 'String', chars: 1_030_000 }, 1],
  ['error', failure('Error', 'boom'), 2],
  ['error with code', failure('PaymentError', 'Card declined.', { code: 'card_declined', status: 402 }), 2],
  ['a text thrown', failure('Error', 'just text'), 2],
  ['nothing thrown', failure('Error', 'undefined'), 2],
  ['a failure not to be retried', failure('NoAccount', 'No such account.'), 1],
  ['a failure to be retried', failure('NotYet', 'Not yet.'), 2],
  ['a type that the policy gives up on', failure('NeverAgain', 'Never again.'), 1],
  ['a long message', failure('Error', `${'x'.repeat(8_000)}…`), 2],
];
/** What cannot be recorded, and what the error says of it. */
const refused: [what: string, name: string, says: string][] = [
  ['bigint', 'NotRecordableError', 'it is a bigint'],
  ['bigint inside', 'NotRecordableError', '"total[0].cents" is a bigint'],
  ['bytes', 'NotRecordableError', 'it is bytes'],
  ['bytes inside', 'NotRecordableError', '"file.data" is bytes'],
  ['map', 'NotRecordableError', 'it is a Map'],
  ['set inside', 'NotRecordableError', '"[0].tags" is a Set'],
  ['function', 'NotRecordableError', 'it is a function'],
  ['cycle', 'NotRecordableError', '"inner.list[0]" is a cycle'],
  ['3 MB', 'PayloadTooLargeError', 'has 3000002 bytes; the limit for one payload is 2080768'],
];

describe.each([
  ['tool', 'result of tool produce'],
  ['local tool', 'result of tool produce_here'],
  ['step', 'result of step'],
])('what a %s comes back with', (way, whose) => {
  let log: string;
  let counts: Record<string, number>;

  beforeAll(async () => {
    log = await collecting;
    counts = tally(log);
  });

  /** What was seen in the first process and, the same, in the second. */
  const seen = (name: string) => {
    const [before, ...after] = sightings(log, name);
    expect(after.length).toBeGreaterThan(0);
    for (const { pid, saw } of after) {
      expect(pid).not.toBe(before!.pid);
      expect(saw).toEqual(before!.saw);
    }
    return before!.saw;
  };

  test.each(accepted)('is the same before and after: %s', (what, expected, runs) => {
    expect(seen(`${way}: ${what}`)).toEqual(expected);
    expect(counts[`ran ${way} ${what}`]).toBe(runs);
  });

  test.each(refused)('is refused by name, once, where it cannot be recorded: %s', (what, name, says) => {
    const { error } = seen(`${way}: ${what}`) as { error: Error };
    expect(error).toMatchObject({ class: name, name, message: expect.stringContaining(says) });
    expect(error['message']).toContain(whose);
    expect(counts[`ran ${way} ${what}`]).toBe(1);
  });

  test('is a timeout where it takes too long on each attempt, whose signal fires', () => {
    expect(seen(`${way}: no end`)).toEqual({
      error: { class: 'Error', name: 'TimeoutError', message: expect.stringMatching(/timed out/i) },
    });
    expect(counts[`ran ${way} no end`]).toBe(2);
    expect(counts[`aborted ${way} no end`]).toBe(2);
  });

  if (way !== 'tool') return;

  test('takes an input of almost 2 MB', () => {
    expect(seen('given: almost 2 MB')).toEqual(value(2_060_011, 'number', 'Number'));
    expect(counts['ran take of data']).toBe(1);
  });

  test.each([
    ['3 MB', 'PayloadTooLargeError', 'has 3000011 bytes; the limit for one payload is 2080768'],
    ['bigint', 'NotRecordableError', '"amount.cents" is a bigint'],
    ['bytes', 'NotRecordableError', '"file[0]" is bytes'],
    ['map', 'NotRecordableError', '"headers" is a Map'],
    ['cycle', 'NotRecordableError', '"inner.list[0]" is a cycle'],
  ])('refuses an input before anything runs: %s', (what, name, says) => {
    const { error } = seen(`given: ${what}`) as { error: Error };
    expect(error).toMatchObject({ class: name, name, message: expect.stringContaining(says) });
    expect(error['message']).toContain('The input of tool take');
    expect(Object.keys(counts).filter((line) => line.startsWith('ran take'))).toEqual(['ran take of data']);
  });
});

test('a tool or step that throws is tried three times by default', async () => {
  const taskQueue = unique('by-default');
  const log = newEffects();
  const worker = await spawnWorker(options(taskQueue, log));
  const { workflow } = await client();
  const seen: unknown = await workflow.execute('byDefault', {
    taskQueue,
    workflowId: taskQueue,
    ...QUICK_START,
  });
  await worker.kill();
  expect(seen).toEqual([failure('Error', 'boom'), failure('Error', 'boom')]);
  expect(tally(log)).toEqual({ 'ran flaky tool': 3, 'ran flaky step': 3 });
});

describe('what ends its process whenever it runs', () => {
  test.each([
    ['tool', 2, { name: 'TimeoutError', message: 'tool kill_process timed out (HEARTBEAT)' }],
    [
      'step',
      3,
      {
        name: 'StepKillsWorkerError',
        message: 'step kill_process lost its worker 3 times: it kills or blocks its process.',
      },
    ],
  ])('is an error of the %s, and the run lives', async (way, times, error) => {
    const taskQueue = unique('killer');
    const log = newEffects();
    const worker = await spawnRespawning(options(taskQueue, log));
    const { workflow } = await client();
    const handle = await workflow.start('killer', {
      taskQueue,
      workflowId: taskQueue,
      args: [way],
      ...QUICK_START,
    });
    // A query waits long for a worker that is gone, so it comes last.
    await until(() => sightings(log, way).length > 0, 'the agent is told');
    await untilWaiting(handle);
    await worker.kill();
    await handle.signal(approve, { id: 'gate-1' });
    await handle.result();
    await worker.stop();
    const [before, ...after] = sightings(log, way).map(({ saw }) => saw);
    expect(before).toEqual({ error: { class: expect.any(String), ...error } });
    expect(after[0]).toEqual(before);
    expect(tally(log)['ran kill_process']).toBe(times);
  });
});
