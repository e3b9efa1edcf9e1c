import { setImmediate as eventLoopTurn, setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import { nonCancellable, PayloadTooLargeError, ToolRejectedError } from '../../src/index.ts';
import { askStep } from '../../src/loop/ask.ts';
import { currentPosition, runInScope } from '../../src/loop/current-loop.ts';
import { MAX_BATCH_BYTES, MAX_PAYLOAD_BYTES } from '../../src/protocol/limits.ts';
import { PretendRun } from '../kit/pretend-run.ts';

const ask = (name: string, request: unknown = {}) => askStep<string>({ kind: 'turn', name, request });
const keys = (run: PretendRun) => run.asked.map(({ key }) => key);

describe('steps', () => {
  test('asked in the same turn of the event loop are handed out together, numbered from 1', async () => {
    const run = new PretendRun(async () => await Promise.all(['a', 'b', 'c'].map((name) => ask(name))));
    const { steps } = await run.advance();
    expect(steps!.map(({ no, name, kind }) => [no, name, kind])).toEqual([
      [1, 'a', 'turn'],
      [2, 'b', 'turn'],
      [3, 'c', 'turn'],
    ]);
  });

  test('answered here are told their key over all runs of the chain, and whether they may have run before', async () => {
    const told: unknown[] = [];
    const body = async () => {
      const closure = async (_signal: AbortSignal, ...call: unknown[]) => ({ value: told.push(call) });
      await askStep({ kind: 'step', name: 'a', request: {}, closure });
    };
    const run = new PretendRun(body);
    await run.advance();
    const [key] = keys(run) as [string];
    const attempt = async () => await run.loop.closure(key)!(new AbortController().signal);
    await attempt();
    await attempt();
    run.build();
    await attempt();
    expect(told).toEqual([false, true, true].map((again) => [again, `run:${key}`]));
  });

  test('are handed out again until the run has acknowledged them', async () => {
    const run = new PretendRun(async () => await ask('a'));
    const first = await run.loop.next(0, 20);
    expect((await run.loop.next(0, 20)).steps).toEqual(first.steps);
    expect((await run.loop.next(1, 20)).steps).toBeUndefined();
  });

  test('of one request are told apart by their occurrence', async () => {
    const run = new PretendRun(async () => await Promise.all([ask('a'), ask('a'), ask('a'), ask('b')]));
    await run.advance();
    const [first, second, third, other] = keys(run);
    expect([second, third]).toEqual([`${first}.2`, `${first}.3`]);
    expect(other).not.toContain('.');
  });

  test('of one request in different scopes are different steps, so that branches do not shift each other', async () => {
    const run = new PretendRun(async () => {
      await Promise.all([
        ask('a'),
        runInScope('call-1', () => ask('a')),
        runInScope('call-2', () => ask('a')),
      ]);
    });
    await run.advance();
    expect(new Set(keys(run)).size).toBe(3);
    expect(keys(run).filter((key) => key.includes('.'))).toEqual([]);
  });

  test('that a run had heard of in a task which was lost are handed out again', async () => {
    const run = new PretendRun(async () => await Promise.all([ask('a'), ask('b')]));
    const { steps } = await run.loop.next(0, 20);
    expect(steps).toHaveLength(2);
    // The run asks once more in that task, whereby it acknowledges both; then the task is lost.
    expect(await run.loop.next(2, 5)).toEqual({});
    expect((await run.loop.next(0, 20)).steps).toEqual(steps);
    expect((await run.loop.next(1, 20)).steps).toEqual([steps![1]]);
  });

  test('that fill more than one message come in several, the rest at once after', async () => {
    const input = 'x'.repeat(MAX_BATCH_BYTES / 2);
    const run = new PretendRun(async () => {
      await Promise.all([1, 2, 3].map((n) => askStep({ kind: 'tool', name: `t${n}`, request: n, input })));
    });
    const { told } = run;
    const first = await run.loop.next(0, 20);
    expect([first.steps!.length, run.told - told]).toEqual([1, 1]);
    await run.advance();
    expect(run.waitsFor).toEqual(['t1', 't2', 't3']);
  });

  test('with an input that the server would not take are refused, and the loop goes on', async () => {
    const run = new PretendRun(async () => {
      const refused = await askStep({
        kind: 'tool',
        name: 'big',
        request: {},
        input: 'x'.repeat(MAX_PAYLOAD_BYTES),
      }).catch((error: unknown) => error);
      return [refused instanceof PayloadTooLargeError, (refused as Error).message];
    });
    const { end } = await run.advance();
    expect(end).toEqual({ output: [true, expect.stringContaining('The input of tool big has 20')] });
  });

  test('explain a turn by a hash of each field of its request', async () => {
    const run = new PretendRun(async () => await ask('gpt', { instructions: 'x', tools: [] }));
    const { steps } = await run.advance();
    expect(Object.keys(steps![0]!.parts!)).toEqual(['instructions', 'tools']);
  });
});

describe('an end', () => {
  test('is the output, also the second time', async () => {
    const run = new PretendRun(async () => 42);
    expect(await run.advance()).toEqual({ end: { output: 42 } });
    expect(await run.advance()).toEqual({ end: { output: 42 } });
  });

  test('comes after the steps that were asked before it', async () => {
    const run = new PretendRun(async () => void ask('nobody awaits it'));
    const { told } = run;
    const first = await run.loop.next(0, 20);
    expect([first.steps!.length, run.told - told, first.end]).toEqual([1, 1, undefined]);
    expect(await run.loop.next(1, 20)).toEqual({ end: { output: undefined } });
  });

  test('by a failure of its own code may be tried again; by a recorded failure not', async () => {
    const own = new PretendRun(async () => {
      throw new TypeError('x is not a function');
    });
    expect(await own.advance()).toEqual({
      end: { failure: { name: 'TypeError', message: 'x is not a function' } },
    });
    const recorded = new PretendRun(async () => await ask('a'));
    await recorded.advance();
    recorded.answer(recorded.asked[0]!.key, undefined, {
      name: 'AuthenticationError',
      message: 'no',
      status: 401,
    });
    expect(await recorded.advance()).toEqual({
      end: { failure: { name: 'AuthenticationError', message: 'no', status: 401 }, final: true },
    });
  });

  test.each([[undefined], [null], ['text'], [Object.create(null)], [{ constructor: null }]])(
    'by whatever was thrown is an end: %p',
    async (thrown) => {
      const run = new PretendRun(async () => {
        throw thrown;
      });
      expect((await run.advance()).end?.failure?.name).toEqual(expect.any(String));
    },
  );
});

describe('a loop that asks nothing', () => {
  test('is idle after the patience', async () => {
    const run = new PretendRun(async () => await delay(2_000, undefined, { ref: false }));
    const before = performance.now();
    expect(await run.loop.next(0, 50)).toEqual({});
    expect(performance.now() - before).toBeGreaterThanOrEqual(45);
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  test('tells of what it asks later, only while nobody waits', async () => {
    const run = new PretendRun(async () => {
      await delay(60);
      await ask('a');
    });
    await run.advance(10);
    expect([run.told, run.waitsFor]).toEqual([0, []]);
    await delay(100);
    expect(run.told).toBeGreaterThan(0);
    const told = run.told;
    await run.advance();
    expect([run.told, run.waitsFor]).toEqual([told, ['a']]);
  });

  test('wakes whoever waits as soon as it asks', async () => {
    const run = new PretendRun(async () => {
      await delay(20);
      await ask('a');
    });
    const before = performance.now();
    await run.advance(30_000);
    expect([run.told, run.waitsFor]).toEqual([0, ['a']]);
    expect(performance.now() - before).toBeLessThan(2_000);
  });
});

describe('a cancelled loop', () => {
  test('sees its steps reject and its signal fire, but not those of its clean-up', async () => {
    const seen: unknown[] = [];
    const run = new PretendRun(async (signal) => {
      signal.addEventListener('abort', () => seen.push('signal'));
      const kept = nonCancellable(() => ask('clean-up that runs already'));
      await ask('work').catch((error: unknown) => seen.push(error instanceof CancelledFailure));
      await ask('more work').catch((error: unknown) => seen.push(error instanceof CancelledFailure));
      seen.push(await nonCancellable(() => ask('clean-up')), await kept);
    });
    await run.advance();
    run.loop.cancel();
    await run.advance();
    await run.answerTo('clean-up');
    await run.answerTo('clean-up that runs already');
    expect(seen).toEqual(['signal', true, true, 'clean-up!', 'clean-up that runs already!']);
    expect(run.asked.find(({ name }) => name === 'clean-up')!.shielded).toBe(true);
  });

  test('may be told twice', async () => {
    const run = new PretendRun(async () => await ask('work').catch(() => 'over'));
    await run.advance();
    run.loop.cancel();
    run.loop.cancel();
    expect((await run.advance()).end).toEqual({ output: 'over' });
  });
});

test('a dropped loop is never told: its steps do not settle, its signal fires with another reason', async () => {
  let settled = false;
  let reason: unknown;
  const run = new PretendRun(async (signal) => {
    signal.addEventListener('abort', () => (reason = signal.reason));
    await Promise.allSettled([ask('a'), ask('b')]);
    settled = true;
  });
  await run.advance();
  run.loop.drop('a test says so');
  run.answer(run.asked[0]!.key, 'late');
  run.loop.take(0, run.records, 2);
  await delay(20);
  expect(settled).toBe(false);
  expect(reason).not.toBeInstanceOf(CancelledFailure);
});

test('a recorded failure is the same error after a restart', async () => {
  const body = async () =>
    await ask('a').catch((error: unknown) => [error instanceof ToolRejectedError, String(error)]);
  const run = new PretendRun(body);
  await run.advance();
  run.answer(run.asked[0]!.key, undefined, { name: 'ToolRejectedError', message: 'wrong account' });
  const live = await run.advance();
  run.build();
  expect(await run.advance()).toEqual(live);
  expect(live.end).toEqual({ output: [true, 'ToolRejectedError: wrong account'] });
});

test("the agent's code sees its own loop only, and nothing of what builds it", async () => {
  let inside: unknown;
  const run = new PretendRun(async () => {
    await eventLoopTurn();
    inside = currentPosition()?.loop;
  });
  await run.advance();
  expect(inside).toBe(run.loop);
  expect(currentPosition()).toBeUndefined();
});

test('a turn says in a few words what it is asked; no character is cut in two', async () => {
  const about = `${'x'.repeat(119)}👍 and more`;
  const run = new PretendRun(async () => {
    await Promise.all([
      askStep({ kind: 'turn', name: 'gpt', request: {}, about }),
      askStep({ kind: 'step', name: 'other', request: {}, about }),
    ]);
  });
  await run.advance();
  expect(run.asked.map(({ asked }) => asked)).toEqual([`${'x'.repeat(119)}…`, undefined]);
});

test.each([
  ['an approval', { kind: 'approval' as const }, true],
  ['a sleep', { kind: 'sleep' as const }, true],
  ['another agent', { kind: 'agent' as const }, true],
  ['a tool that a person must approve', { kind: 'tool' as const, approval: { prompt: '?' } }, true],
  ['a turn', { kind: 'turn' as const }, false],
  ['a tool', { kind: 'tool' as const }, false],
])('a loop that waits for %s alone may be dropped beyond the cap: %#', async (_what, request, long) => {
  const run = new PretendRun(async () => await askStep({ name: 'x', request: {}, ...request }));
  await run.advance();
  expect(run.loop.onlyWaitsLong).toBe(long);
  expect(run.loop.onlyWaits).toBe(true);
});
