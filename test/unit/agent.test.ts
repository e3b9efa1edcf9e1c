import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import {
  agent,
  AgentInputError,
  AgentOutputError,
  DeclarationError,
  NotRecordableError,
  sleep,
  step,
} from '../../src/index.ts';
import { askStep } from '../../src/loop/ask.ts';
import { PretendRun } from '../kit/pretend-run.ts';

let warn: jest.SpiedFunction<typeof process.emitWarning>;
beforeEach(() => void (warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})));
afterEach(() => warn.mockRestore());

const shout = agent('shout', async (text: string) => text.toUpperCase());

describe('outside Temporal an agent', () => {
  test('just runs, and says once that nothing of it is durable', async () => {
    expect(await shout('a')).toBe('A');
    expect(await shout('b')).toBe('B');
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('nothing of it is durable'), {
      type: 'TemporalAgents',
      code: 'DURABILITY_OFF',
    });
  });

  test('validates what it is given and what it returns', async () => {
    const strict = agent('strict', async (n: number) => n * 2, {
      input: z.coerce.number(),
      output: z.number().max(10),
    });
    expect(await strict('4' as never)).toBe(8);
    await expect(strict('x' as never)).rejects.toThrow(AgentInputError);
    await expect(strict('x' as never)).rejects.toThrow(/^The input of agent strict does not fit: /);
    await expect(strict(6)).rejects.toThrow(AgentOutputError);
  });

  test('refuses to return what could not be recorded, as it would with Temporal', async () => {
    await expect(agent('lossy', async () => new Map())(undefined)).rejects.toThrow(NotRecordableError);
  });

  test('runs its steps and sleeps plainly', async () => {
    const plain = agent('plain', async () => {
      const before = Date.now();
      await sleep('20 ms');
      return await step('measure', () => Date.now() - before >= 19);
    });
    expect(await plain(undefined)).toBe(true);
  });

  test('has its name, for Temporal and in stack traces', () => {
    expect([shout.agentName, shout.name]).toEqual(['shout', 'shout']);
  });
});

test.each([[''], ['two words'], ['1st'], ['a.b'], ['a/b'], ['tär'], ['x'.repeat(65)]])(
  'an agent named %j is refused',
  (name) => {
    expect(() => agent(name, async () => {})).toThrow(DeclarationError);
    expect(() => agent(name, async () => {})).toThrow(
      `Cannot declare an agent named ${JSON.stringify(name)}`,
    );
  },
);

test.each<[string, string, object, string]>([
  ['a name that every object has', 'constructor', {}, 'an agent named "constructor"'],
  ['an option that does not exist', 'a', { retry: 3 }, 'agent a: this version has no option "retry"'],
])('an agent with %s is refused', (_what, name, options, says) => {
  expect(() => agent(name, async () => {}, options)).toThrow(DeclarationError);
  expect(() => agent(name, async () => {}, options)).toThrow(says);
});

describe('inside a run', () => {
  test('another agent is a child, on its own task queue', async () => {
    const child = agent('child', async (n: number) => n, { taskQueue: 'elsewhere' });
    const run = new PretendRun(async () => await child(1));
    await run.settle();
    expect(run.asked).toMatchObject([
      { kind: 'agent', name: 'child', input: 1, options: { taskQueue: 'elsewhere' } },
    ]);
    expect((await run.answerTo('child', 7)).end).toEqual({ output: 7 });
  });

  test('another agent whose input does not fit is not started', async () => {
    const strict = agent('strict', async (n: number) => n, { input: z.number() });
    const run = new PretendRun(async () => await strict('x' as never));
    expect((await run.settle()).end).toMatchObject({ failure: { name: 'AgentInputError' }, final: true });
    expect(run.asked).toEqual([]);
  });

  test('another agent whose input JSON would lose is not started', async () => {
    const run = new PretendRun(async () => await shout(new Map() as never));
    expect((await run.settle()).end).toMatchObject({ failure: { name: 'NotRecordableError' }, final: true });
  });

  test('a step is told apart from others by its name and its number', async () => {
    const run = new PretendRun(
      async () => await Promise.all([step('a', () => 1), step('b', () => 2), step('a', () => 3)]),
    );
    await run.settle();
    const keys = run.asked.map(({ key }) => key);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe(`${keys[0]}.2`);
    expect(run.asked).toMatchObject([{ kind: 'step', name: 'a', local: true }, { name: 'b' }, { name: 'a' }]);
  });

  test('a step is tried twice again if nothing else is said', async () => {
    const run = new PretendRun(async () => {
      await Promise.all([step('a', () => 1), step('b', () => 1, { retries: 0, timeout: '1m' })]);
    });
    await run.settle();
    expect(run.asked).toMatchObject([
      { options: { retry: { maximumAttempts: 3 } } },
      { options: { retry: { maximumAttempts: 1 }, startToCloseTimeout: '1m' } },
    ]);
  });

  test("a step's closure gives its value, or a failure that says whether to try again", async () => {
    const signal = new AbortController().signal;
    const outcomes = [
      () => ({ a: 1 }),
      () => Promise.reject(new RangeError('no')),
      () => ({ a: new Set() }),
    ] as const;
    const run = new PretendRun(
      async () => await Promise.all(outcomes.map((outcome, i) => step<unknown>(`${i}`, outcome))),
    );
    await run.settle();
    const [value, failed, lossy] = run.asked.map(({ key }) => run.loop.closure(key)!(signal));
    expect(await value).toEqual({ value: { a: 1 } });
    await expect(failed).rejects.toMatchObject({ type: 'RangeError', nonRetryable: false });
    await expect(lossy).rejects.toMatchObject({ type: 'NotRecordableError', nonRetryable: true });
  });

  test('a sleep is a timer of the run, of so many milliseconds', async () => {
    const run = new PretendRun(async () => await sleep('2 days'));
    await run.settle();
    expect(run.asked).toMatchObject([{ kind: 'sleep', input: 172_800_000 }]);
    expect((await run.answerTo('sleep', undefined)).end).toEqual({ output: undefined });
  });

  test('a sleep that nobody can have meant is refused', async () => {
    await expect(sleep('soon')).rejects.toThrow();
  });
});

test('the options of an agent are sent to its runs, and only those that are set', () => {
  const tuned = agent('tuned', async () => {}, {
    retries: 5,
    turnTimeout: '1m',
    turnRetry: { maximumAttempts: 2 },
  });
  expect(tuned.settings).toEqual({ agentRetries: 5, turnTimeout: '1m', turnRetry: { maximumAttempts: 2 } });
  expect(shout.settings).toEqual({});
});

test.each([
  [{ retries: -1 }, 'Cannot take step a: "retries" must be a whole number, 0 or more.'],
  [{ timeout: 'soon' as never }, 'Cannot take step a: "timeout" is "soon".'],
])('a step refuses limits that cannot be meant: %j', async (limits, message) => {
  await expect(step('a', () => 1, limits)).rejects.toThrow(message);
});

test('code outside a run cannot ask for a step', async () => {
  expect(() => askStep({ kind: 'turn', name: 'gpt', request: {} })).toThrow('this code is not part of a run');
});
