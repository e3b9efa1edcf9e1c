import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { z } from 'zod';
import { createToolActivity } from '../../activities/tool-activity.ts';
import { digest } from '../../src/loop/fingerprint.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/limits.ts';
import { DeclarationError, tool, ToolInputError, type ToolContext } from '../../src/index.ts';
import { byName, declared } from '../../src/tools/declared.ts';
import { PretendRun } from '../kit/pretend-run.ts';

const double = tool({
  name: 'double',
  description: 'Doubles a number.',
  parameters: z.object({ n: z.number() }),
  execute: ({ n }) => n * 2,
});
// That durability is off is said elsewhere.
beforeEach(() => void jest.spyOn(process, 'emitWarning').mockImplementation(() => {}));

const options = { name: 'ship', description: 'Ships.', parameters: z.object({ to: z.string() }) };

describe('outside a run a tool', () => {
  test('is a plain function with its arguments validated', async () => {
    expect(await double({ n: 4 })).toBe(8);
    await expect(double({ n: 'four' } as never)).rejects.toThrow(ToolInputError);
    await expect(double({ n: 'four' } as never)).rejects.toThrow(
      /^The arguments of tool double do not fit its parameters: n: /,
    );
  });

  test('gets a key of its own for each call, and a signal', async () => {
    const seen: ToolContext[] = [];
    const ship = tool({ ...options, execute: (_args, context) => void seen.push(context) });
    await ship({ to: 'Oslo' });
    await ship({ to: 'Oslo' });
    expect(seen[0]!.idempotencyKey).not.toBe(seen[1]!.idempotencyKey);
    expect(seen[0]!.signal.aborted).toBe(false);
  });

  test('without a body cannot run, and says so', async () => {
    await expect(tool(options)({ to: 'Oslo' })).rejects.toThrow(
      'Cannot run tool ship outside a run: it has no body here. Give it an execute function.',
    );
  });

  test('has its name, its options and its JSON Schema', () => {
    expect(double.name).toBe('double');
    expect(double.options.description).toBe('Doubles a number.');
    expect(double.jsonSchema).toMatchObject({ type: 'object', required: ['n'] });
  });
});

describe('a tool is refused', () => {
  test.each([
    ['without a name', { name: undefined }, 'Cannot declare a tool named undefined'],
    ['with a name no provider takes', { name: 'get weather' }, 'Cannot declare a tool named "get weather"'],
    ['with a name that holds a slash', { name: 'a/b' }, 'Cannot declare a tool named "a/b"'],
    ['with a name that begins with a digit', { name: '1st' }, 'not starting with a digit'],
    ['with a name that is too long', { name: 'x'.repeat(65) }, 'at most 64'],
    [
      'with an option that does not exist',
      { retry: 3 },
      'Cannot declare tool ship: this version has no option "retry".',
    ],
    [
      'without parameters',
      { parameters: undefined },
      '"parameters" must be a schema; z.object({}) takes nothing.',
    ],
    ['with a negative number of retries', { retries: -1 }, '"retries" must be a whole number, 0 or more.'],
    [
      'with an approval that is nothing',
      { requiresApproval: null },
      '"requiresApproval" must be true, a text, a function of the arguments, or an object.',
    ],
    [
      'with an approval option that is none',
      { requiresApproval: { text: 'x' } },
      '"requiresApproval": this version has no option "text".',
    ],
    [
      'with a rule for a time that is not given',
      { requiresApproval: { onTimeout: 'approve' } },
      '"onTimeout" needs a "timeout".',
    ],
    [
      'with another rule for the end of the time',
      { requiresApproval: { timeout: '1h', onTimeout: 'escalate' } },
      "\"onTimeout\" must be 'reject', 'approve' or { escalate }.",
    ],
    [
      'with an escalation that has no end of its own',
      { requiresApproval: { timeout: '1h', onTimeout: { escalate: { onTimeout: 'approve' } } } },
      '"onTimeout" needs a "timeout".',
    ],
    [
      'with an escalation of an escalation',
      {
        requiresApproval: {
          timeout: '1h',
          onTimeout: { escalate: { timeout: '1h', onTimeout: { escalate: {} } } },
        },
      },
      "an escalation ends with 'reject' or 'approve'.",
    ],
    ['with a part of a retry', { retries: 0.5 }, '"retries" must be a whole number, 0 or more.'],
  ])('%s', (_what, changes, message) => {
    expect(() => tool({ ...options, ...changes } as never)).toThrow(DeclarationError);
    expect(() => tool({ ...options, ...changes } as never)).toThrow(message);
  });
});

describe('inside a run a tool', () => {
  const asked = async (body: () => Promise<unknown>, served = true) => {
    const run = new PretendRun(body, { serves: () => served });
    const { end } = await run.settle();
    return { steps: run.asked, end };
  };

  test('is a step by its own name, with the arguments as they were sent', async () => {
    const { steps } = await asked(() => double({ n: 4 }));
    expect(steps).toMatchObject([{ kind: 'tool', name: 'double', input: { n: 4 }, heartbeats: true }]);
    expect(steps[0]!.local).toBeUndefined();
  });

  test('is run by the host, with two retries, where no worker serves it', async () => {
    const { steps } = await asked(() => double({ n: 4 }), false);
    expect(steps).toMatchObject([{ local: true, options: { retry: { maximumAttempts: 3 } } }]);
  });

  test('is left to its own task queue, whoever serves it', async () => {
    const { steps } = await asked(() => double.with({ taskQueue: 'gpu' })({ n: 4 }), false);
    expect(steps).toMatchObject([{ options: { taskQueue: 'gpu' } }]);
    expect(steps[0]!.local).toBeUndefined();
  });

  test('without a body is left to workers elsewhere, which heartbeat only if they say so', async () => {
    const { steps } = await asked(() => tool({ ...options, heartbeatTimeout: '5s' })({ to: 'Oslo' }), false);
    expect(steps).toMatchObject([{ name: 'ship', options: { heartbeatTimeout: '5s' } }]);
    expect(steps[0]).not.toMatchObject({ heartbeats: true });
  });

  test('has its options in Temporal’s words', async () => {
    const ship = tool({
      ...options,
      retries: 4,
      timeout: '1m',
      onUncertain: 'fail',
      readOnly: true,
      execute: () => 1,
    });
    const { steps } = await asked(() => ship({ to: 'Oslo' }));
    expect(steps).toMatchObject([
      {
        readOnly: true,
        options: { retry: { maximumAttempts: 5 }, startToCloseTimeout: '1m', onUncertain: 'fail' },
      },
    ]);
  });

  test.each([
    ['is asked for by name', true, 'Run ship?'],
    ["is asked for in the tool's words", ({ to }: { to: string }) => `Ship to ${to}?`, 'Ship to Oslo?'],
    ['may be worded by something that takes time', async ({ to }: { to: string }) => `To ${to}?`, 'To Oslo?'],
    ['may have one text for all', 'Ship it?', 'Ship it?'],
    ['may depend on the arguments', ({ to }: { to: string }) => to === 'Oslo', 'Run ship?'],
    ['may be one of several options', { audience: 'depot' }, 'Run ship?', { audience: 'depot' }],
    [
      'may be decided by time',
      { prompt: 'Ship?', timeout: '2h' as const, onTimeout: 'approve' as const },
      'Ship?',
      { timeoutMs: 7_200_000, onTimeout: 'approve' },
    ],
  ])('that needs an approval %s', async (_how, requiresApproval, prompt, more: object = {}) => {
    const ship = tool({ ...options, requiresApproval, execute: () => 1 });
    const { steps } = await asked(() => ship({ to: 'Oslo' }));
    const argumentsHash = digest({ to: 'Oslo' });
    expect(steps[0]!.approval).toEqual({ prompt, argumentsHash, ...more });
  });

  test.each([false, undefined, () => false, { prompt: () => false }])(
    'whose approval rule says no needs none: %p',
    async (requiresApproval) => {
      const ship = tool({
        ...options,
        execute: () => 1,
        ...(requiresApproval !== undefined && { requiresApproval }),
      });
      const { steps } = await asked(() => ship({ to: 'Oslo' }));
      expect(steps[0]!.approval).toBeUndefined();
    },
  );

  test('is the same step for equal arguments, another for another version', async () => {
    const call = async (version?: string) => {
      const ship = tool({ ...options, execute: () => 1, ...(version !== undefined && { version }) });
      return (await asked(() => ship({ to: 'Oslo' }))).steps[0]!.key;
    };
    expect(await call()).toBe(await call());
    expect(await call('2')).not.toBe(await call());
  });

  test('is the same step however it is run', async () => {
    const plain = await asked(() => double({ n: 4 }));
    const changed = await asked(() => double.with({ retries: 9, taskQueue: 'gpu' })({ n: 4 }));
    expect(changed.steps[0]!.key).toBe(plain.steps[0]!.key);
  });

  test('with arguments that do not fit is no step', async () => {
    const { steps, end } = await asked(() => double({ n: 'four' } as never));
    expect(steps).toEqual([]);
    expect(end).toMatchObject({ failure: { name: 'ToolInputError' } });
  });

  test('with arguments that JSON would lose is no step', async () => {
    const take = tool({ ...options, parameters: {} });
    const { steps, end } = await asked(() => take({ all: new Map() }));
    expect(steps).toEqual([]);
    expect(end).toMatchObject({ failure: { name: 'NotRecordableError' } });
  });
});

describe('the activity of a tool', () => {
  const id = `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}:${'a'.repeat(24)}`;
  const run = async (made: typeof double, input: unknown, activityId = id) =>
    await new MockActivityEnvironment({ activityId }, { logger: new DefaultLogger('ERROR') }).run(
      createToolActivity(made, { maxPayloadBytes: MAX_PAYLOAD_BYTES }),
      input,
    );

  test('validates the arguments and gives the result', async () => {
    expect(await run(double, { n: 4 })).toBe(8);
    await expect(run(double, { n: 'x' })).rejects.toMatchObject({
      type: 'ToolInputError',
      nonRetryable: true,
    });
  });

  test('gives our own activity id as the idempotency key, and makes one of any other', async () => {
    const keyOf = tool({
      ...options,
      parameters: {},
      execute: (_args, { idempotencyKey }) => idempotencyKey,
    }) as never;
    expect(await run(keyOf, {})).toBe(id);
    expect(await run(keyOf, {}, '7')).toMatch(/^.+:7$/);
  });

  test('may be tried again after its body threw, not after a result that cannot be recorded', async () => {
    const failing = tool({
      ...options,
      parameters: {},
      execute: () => Promise.reject(new RangeError('no')),
    }) as never;
    await expect(run(failing, {})).rejects.toMatchObject({
      type: 'RangeError',
      message: 'no',
      nonRetryable: false,
    });
    const lossy = tool({ ...options, parameters: {}, execute: () => ({ all: new Map() }) }) as never;
    await expect(run(lossy, {})).rejects.toMatchObject({ type: 'NotRecordableError', nonRetryable: true });
  });

  test('runs the body outside any loop: what it calls is not a step of the run', async () => {
    const calling = tool({
      ...options,
      parameters: {},
      execute: async () => await double({ n: 1 }),
    }) as never;
    expect(await run(calling, {})).toBe(2);
  });
});

describe('what a worker serves if not told otherwise', () => {
  test('is every tool with a body that was declared outside a run', async () => {
    let within: object | undefined;
    await new PretendRun(async () => void (within = tool({ ...options, execute: () => 1 }))).settle();
    expect(declared.has(double)).toBe(true);
    expect(declared.has(within as never)).toBe(false);
    expect(declared.has(tool(options))).toBe(false);
    expect(declared.has(double.with({ retries: 1 }))).toBe(false);
  });

  test('has one tool a name', () => {
    const other = { ...options, execute: () => 1 };
    expect([...byName([double, tool(other), double]).keys()]).toEqual(['double', 'ship']);
    expect(() => byName([tool(other), tool(other)])).toThrow('Cannot serve two tools named "ship"');
  });

  test('counts a tool and what `with` makes of it as one', () => {
    const gpu = double.with({ taskQueue: 'gpu' });
    expect([...byName([double, gpu])]).toEqual([['double', double]]);
    expect([...byName([gpu])]).toEqual([['double', double]]);
  });
});
