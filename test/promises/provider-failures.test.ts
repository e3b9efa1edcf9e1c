import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { approve, records, type StepRecord } from '../../src/index.ts';
import {
  type JournalEntry,
  type ProviderAnswer,
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/testing/index.ts';
import { newEffects, tally } from '../kit/effects.ts';
import { client, unique, until } from '../kit/temporal.ts';
import { sightings, untilWaiting } from '../kit/waiting-runs.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../kit/workers.ts';

const module = new URL('../fixtures/provider-failure-agents.ts', import.meta.url).href;
const error = (code: string, message: string) => ({
  error: { message, type: 'an_error', param: null, code },
});

/** What the provider does the first times it is asked; then it answers. */
const script: Record<string, ProviderAnswer[]> = {
  'rate limited twice': [
    { status: 429, headers: { 'retry-after': '2' }, errorBody: error('rate_limit_exceeded', 'Slow down.') },
    {
      status: 429,
      headers: { 'retry-after-ms': '2500' },
      errorBody: error('rate_limit_exceeded', 'Slow down.'),
    },
  ],
  'broken once': [{ status: 500 }],
  'overloaded once': [{ status: 529 }],
  'reset once': [{ reset: true }],
  'reset midway': [{ reset: 'midway' }],
  'hangs once': [{ hang: true }],
  'bad request': [{ status: 400, errorBody: error('invalid_value', 'Invalid temperature.') }],
  'bad key': [{ status: 401, errorBody: error('invalid_api_key', 'Incorrect API key provided.') }],
  'bad request, fatal': [{ status: 400, errorBody: error('invalid_value', 'Invalid temperature.') }],
  'not to be retried': [{ status: 503, headers: { 'x-should-retry': 'false' } }],
  'out of order': Array.from({ length: 3 }, () => ({
    status: 503,
    errorBody: error('overloaded', 'Overloaded.'),
  })),
};

let provider: ScriptedProvider;

beforeAll(async () => {
  provider = await startScriptedProvider(({ messages, attempt }) => {
    const { text } = messages.at(-1)!;
    return script[text]?.[attempt - 1] ?? { text: `about ${text}` };
  });
});
afterAll(async () => await provider.stop());

const asked = (prompt: string): JournalEntry[] =>
  provider.requests.filter(({ body }) => body['input'] === prompt);
const spawn = async (taskQueue: string, log: string) =>
  await spawnWorker({
    taskQueue,
    module,
    plugin: QUICK_PLUGIN,
    worker: QUICK_WORKER,
    env: { EFFECTS: log, PROVIDER_URL: provider.url },
  });

/** How one run went: before its worker was killed, and after. */
interface Outcome {
  result?: unknown;
  failure?: ApplicationFailure;
  records: StepRecord[];
  sightings: { pid: number; saw: unknown }[];
}

describe('runs that met a failing provider, and whose worker is killed later', () => {
  const outcomes: Record<string, Outcome> = {};
  let log: string;
  let workers: { first: number; second: number };
  const runs: Record<string, string> = {
    'rate limited twice': 'survivor',
    'broken once': 'survivor',
    'overloaded once': 'survivor',
    'reset once': 'survivor',
    'reset midway': 'survivor',
    'bad request': 'survivor',
    'bad key': 'survivor',
    'not to be retried': 'survivor',
    'bad request, fatal': 'victim',
    'out of order': 'fallback',
  };

  beforeAll(async () => {
    const taskQueue = unique('failing-provider');
    log = newEffects();
    const first = await spawn(taskQueue, log);
    const { workflow } = await client();
    const handles = new Map<string, WorkflowHandle>();
    for (const [prompt, agent] of Object.entries(runs)) {
      const workflowId = `${taskQueue}-${prompt}`;
      handles.set(
        prompt,
        await workflow.start(agent, { taskQueue, workflowId, args: [prompt], ...QUICK_START }),
      );
    }
    for (const handle of handles.values()) await untilWaiting(handle);
    await first.kill();
    const second = await spawn(taskQueue, log);
    workers = { first: first.pid, second: second.pid };
    for (const handle of handles.values()) await handle.signal(approve, { id: 'gate-1' });
    for (const [prompt, handle] of handles) {
      const end = await handle.result().then(
        (result: unknown) => ({ result }),
        (failed: WorkflowFailedError) => ({ failure: failed.cause as ApplicationFailure }),
      );
      outcomes[prompt] = { ...end, records: await handle.query(records), sightings: sightings(log, prompt) };
    }
    await second.kill();
  });

  /** The turn's record, and what the agent saw in both workers, which must be equal. */
  const told = (prompt: string) => {
    const outcome = outcomes[prompt]!;
    const [before, ...after] = outcome.sightings;
    expect(before!.pid).toBe(workers.first);
    expect(new Set(after.map(({ pid }) => pid))).toEqual(new Set([workers.second]));
    for (const { saw } of after) expect(saw).toEqual(before!.saw);
    return { ...outcome, turn: outcome.records.find(({ kind }) => kind === 'turn')!, saw: before!.saw };
  };

  test('asks again after a 429, each time not before the provider said, and records the answer', () => {
    const { result, turn, saw } = told('rate limited twice');
    const [first, second, third] = asked('rate limited twice');
    expect(asked('rate limited twice').map(({ status }) => status)).toEqual([429, 429, 200]);
    expect(second!.at - first!.answeredAt!).toBeGreaterThanOrEqual(2_000);
    expect(third!.at - second!.answeredAt!).toBeGreaterThanOrEqual(2_500);
    expect(result).toBe('about rate limited twice');
    expect(saw).toBe('about rate limited twice');
    expect(turn).toMatchObject({ kind: 'turn', value: 'about rate limited twice' });
    expect(turn.failure).toBeUndefined();
  });

  test.each([
    ['broken once', [500, 200]],
    ['overloaded once', [529, 200]],
    ['reset once', [undefined, 200]],
    ['reset midway', [undefined, 200]],
  ])('asks exactly once more when the provider is %s', (prompt, statuses) => {
    const { result, turn, saw } = told(prompt);
    expect(asked(prompt).map(({ status }) => status)).toEqual(statuses);
    expect(result).toBe(`about ${prompt}`);
    expect(saw).toBe(`about ${prompt}`);
    expect(turn).toMatchObject({ value: `about ${prompt}` });
  });

  test.each([
    [
      'bad request',
      { name: 'BadRequestError', message: '400 Invalid temperature.', code: 'invalid_value', status: 400 },
    ],
    [
      'bad key',
      {
        name: 'AuthenticationError',
        message: '401 Incorrect API key provided.',
        code: 'invalid_api_key',
        status: 401,
      },
    ],
    [
      'not to be retried',
      { name: 'InternalServerError', message: '503 The script answers 503.', status: 503 },
    ],
  ])('tells the agent of a %s as the same error before and after, and asks once', (prompt, failure) => {
    const { turn, saw, result } = told(prompt);
    expect(saw).toEqual({ error: { class: 'Error', ...failure } });
    expect(result).toEqual(saw);
    expect(turn.failure).toEqual(failure);
    expect(asked(prompt)).toHaveLength(1);
  });

  test('fails the run with the terminal error that the agent threw, without starting it again', () => {
    const { failure, turn } = told('bad request, fatal');
    expect(failure).toMatchObject({
      type: 'BadRequestError',
      message: '400 Invalid temperature.',
      nonRetryable: true,
    });
    expect(failure!.details).toEqual([{ code: 'invalid_value', status: 400 }]);
    expect(turn.failure).toMatchObject({ name: 'BadRequestError', status: 400 });
    expect(asked('bad request, fatal')).toHaveLength(1);
  });

  test('keeps to the fallback path after a crash, though the primary model answers by then', () => {
    const { result, saw, records: all } = told('out of order');
    expect(saw).toMatchObject({ error: { name: 'InternalServerError', code: 'overloaded', status: 503 } });
    // By its fourth answer the primary model would have worked.
    expect(asked('out of order').map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(asked('instead of out of order')).toHaveLength(1);
    expect(result).toBe('charged for about instead of out of order');
    const charges = Object.entries(tally(log)).filter(([what]) => what.startsWith('charged'));
    expect(charges).toEqual([['charged for about instead of out of order', 1]]);
    expect(all.map(({ kind, name, failure }) => [kind, name, failure?.recoverable])).toEqual([
      ['turn', 'gpt-4.1', true],
      ['turn', 'gpt-4.1', undefined],
      ['tool', 'charge', undefined],
      ['tool', 'gate', undefined],
    ]);
  });
});

test('a worker killed while a rate limit is waited out pays for no more than the one call that was refused', async () => {
  script['limited, then killed'] = [{ status: 429, headers: { 'retry-after': '2' } }];
  const taskQueue = unique('limited-killed');
  const log = newEffects();
  const first = await spawn(taskQueue, log);
  const { workflow } = await client();
  const handle = await workflow.start('survivor', {
    taskQueue,
    workflowId: taskQueue,
    args: ['limited, then killed'],
    ...QUICK_START,
  });
  const refused = await provider.waitFor(
    ({ body, status }) => body['input'] === 'limited, then killed' && status === 429,
  );
  // The refusal is in the history once its activity has failed.
  await until(async () => {
    const { events } = await handle.fetchHistory();
    return events!.some((event) => event.activityTaskFailedEventAttributes);
  }, 'the refusal is recorded');
  await first.kill();
  const second = await spawn(taskQueue, log);
  await untilWaiting(handle);
  await handle.signal(approve, { id: 'gate-1' });
  expect(await handle.result()).toBe('about limited, then killed');
  await second.kill();
  const journal = asked('limited, then killed');
  expect(journal.map(({ status }) => status)).toEqual([429, 200]);
  expect(journal[1]!.at - refused.answeredAt!).toBeGreaterThanOrEqual(2_000);
});

test('asks again when an attempt takes longer than the turn may, and closes the connection of the old one', async () => {
  const taskQueue = unique('hanging');
  const log = newEffects();
  const worker = await spawn(taskQueue, log);
  const { workflow } = await client();
  const result = await workflow.execute('impatient', {
    taskQueue,
    workflowId: taskQueue,
    args: ['hangs once'],
    ...QUICK_START,
  });
  await worker.kill();
  expect(result).toBe('about hangs once');
  expect(asked('hangs once')).toHaveLength(2);
  expect(asked('hangs once')[0]!.closedEarlyAt).toBeDefined();
});
