import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { type Agent, agent, nonCancellable, sleep, step } from '../../src/index.ts';
import { askStep } from '../../src/loop/ask.ts';
import { LoopHost, type LoopHostOptions } from '../../src/loop/loop-host.ts';
import type { Advance, AdvanceInput } from '../../src/protocol/advance.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/limits.ts';
import { LOCAL_INPUT } from '../../src/protocol/names.ts';
import type { Step } from '../../src/protocol/step.ts';
import { recordWith } from '../kit/record.ts';

const MINUTE = 60_000;
const hosts: LoopHost[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.close();
});

/** Asks two turns, one after the other. */
const two = agent('two', async () => [await turn('first'), await turn('second')]);
const turn = (name: string) => askStep<string>({ kind: 'turn', name, request: {} });
const waiting = agent('waiting', async () => await sleep('3 days'));
const signals: unknown[][] = [];

/**
 * A host, and the run that asks it; the server says that its task is the present one, at this attempt.
 * @param options.overAfter how often it says so, until it says that the task is over
 * @param options.noneAfter how often it tells of a task
 */
function hostOf(
  agents: Agent[],
  options: Partial<LoopHostOptions> & { attempt?: number; overAfter?: number; noneAfter?: number } = {},
) {
  const { attempt = 1, overAfter = Infinity, noneAfter = Infinity, ...rest } = options;
  let asked = 0;
  signals.length = 0;
  const host = new LoopHost({
    taskQueue: 'agents',
    agents: new Map(agents.map((each) => [each.agentName, each])),
    servedTools: new Set(),
    storage: { maxPayloadBytes: MAX_PAYLOAD_BYTES },
    settings: {},
    parkAfterMs: MINUTE,
    maxLoops: 100,
    agentMissingMs: MINUTE,
    ...rest,
  });
  hosts.push(host);
  const handle = {
    describe: async () => {
      const state = ++asked > overAfter ? 1 : 2;
      const pendingWorkflowTask = asked > noneAfter ? undefined : { attempt, state };
      return { historyLength: 3, status: { name: 'RUNNING' }, raw: { pendingWorkflowTask } };
    },
    signal: async (...signal: unknown[]) => void signals.push(signal),
  };
  const workflowService = { getWorkflowExecutionHistoryReverse: async () => ({ history: { events: [] } }) };
  const client = {
    workflow: { getHandle: () => handle },
    workflowService,
    options: {},
    connection: {},
  } as unknown as Client;
  const advance = async (input: Partial<AdvanceInput> = {}, runId = 'run-1'): Promise<Advance> =>
    await host.advance(
      { runId, workflowId: runId, client },
      {
        [LOCAL_INPUT]: 1,
        agent: agents[0]!.agentName,
        input: undefined,
        from: 0,
        records: [],
        seen: 0,
        inFlight: 0,
        pokes: 0,
        acts: 0,
        historyLength: 3,
        taskTimeoutMs: 10_000,
        taskStartedAt: Date.now(),
        ...input,
      },
    );
  return { host, advance };
}

const recordOf = ({ key, kind, name }: Step) => recordWith({ key, kind, name, value: `${name}!` });

describe('a loop is known by its run and its epoch', () => {
  test('one that is asked for without an epoch is built, and says where it lives', async () => {
    const { host, advance } = hostOf([two]);
    const { built, steps } = await advance();
    expect(built).toMatchObject({ epoch: host.find('run-1')!.epoch, host: host.queue });
    expect(host.queue).toMatch(/^agents\/host-/);
    expect(steps!.map(({ name }) => name)).toEqual(['first']);
  });

  test('one that is asked for by its epoch goes on', async () => {
    const { advance } = hostOf([two]);
    const { built, steps } = await advance();
    const first = recordOf(steps![0]!);
    const next = { epoch: built!.epoch, records: [first], seen: 1 };
    expect((await advance(next)).steps!.map(({ name }) => name)).toEqual(['second']);
  });

  test('one that is not here, or is another, is lost', async () => {
    const { host, advance } = hostOf([two]);
    expect(await advance({ epoch: 'other' })).toEqual({ lost: 'absent' });
    await advance();
    expect(await advance({ epoch: 'other' })).toEqual({ lost: 'another loop' });
    expect(host.size).toBe(0);
  });

  test('one whose run does not see yet what it had is told so later, but a cancel has another built', async () => {
    const { advance } = hostOf([two]);
    const { built, steps } = await advance();
    const { epoch } = built!;
    await advance({ epoch, records: [recordOf(steps![0]!)], seen: 1 });
    // A replay sees the signals of a task before the answers in it.
    expect(await advance({ epoch, pokes: 1, seen: 1 })).toEqual({ took: { pokes: 1 } });
    const { steps: next } = await advance({ epoch, records: [recordOf(steps![0]!)], seen: 1 });
    expect(next).toMatchObject([{ no: 2, name: 'second' }]);
    expect(await advance({ epoch, cancel: true, seen: 1 })).toEqual({ lost: 'ahead' });
  });

  test('one that is not where the run is, is lost', async () => {
    const { advance } = hostOf([two]);
    const { built } = await advance();
    expect((await advance({ epoch: built!.epoch, from: 1 })).lost).toBe('behind');
  });

  test('a build takes the place of what is there, which is told by its signal alone', async () => {
    let reason: unknown;
    const watched = agent('watched', async (_input: undefined, { signal }) => {
      signal.addEventListener('abort', () => (reason ??= signal.reason));
      await turn('first');
    });
    const { host, advance } = hostOf([watched]);
    const { built } = await advance();
    const again = await advance();
    expect(again.built!.epoch).not.toBe(built!.epoch);
    expect(host.size).toBe(1);
    expect(String(reason)).toMatch('This loop was dropped');
  });
});

describe('an advance', () => {
  test('may be repeated: it hands out again what is not acknowledged', async () => {
    const { advance } = hostOf([two]);
    const { built, steps } = await advance();
    const next = { epoch: built!.epoch, records: [recordOf(steps![0]!)], seen: 1 };
    const [once, again] = [await advance(next), await advance(next)];
    expect(again).toEqual(once);
    expect(once.steps).toHaveLength(1);
  });

  test('never throws for what the agent throws', async () => {
    const failing = agent('failing', async () => {
      throw new RangeError('no');
    });
    const { advance } = hostOf([failing]);
    expect((await advance()).end).toEqual({ failure: { name: 'RangeError', message: 'no' } });
  });

  test('of a run that goes on as a new one drops its loop', async () => {
    const { host, advance } = hostOf([two]);
    await advance();
    expect(await advance({ leave: true })).toEqual({});
    expect(host.size).toBe(0);
  });

  test('that builds a loop to cancel it lets it have its records first', async () => {
    const tidy = agent('tidy', async () => {
      const done: string[] = [];
      try {
        for (const name of ['first', 'second', 'third']) done.push(await turn(name));
      } finally {
        await nonCancellable(() => step(`undo ${done.join(' ')}`, () => 1));
      }
    });
    const { advance } = hostOf([tidy]);
    const { built, steps: [first] = [] } = await advance();
    const { steps: [second] = [] } = await advance({
      epoch: built!.epoch,
      records: [recordOf(first!)],
      seen: 1,
    });
    const { steps } = await advance({ records: [first!, second!].map(recordOf), cancel: true });
    expect(steps!.map(({ name, shielded }) => [name, shielded])).toEqual([['undo first! second!', true]]);
  });
});

describe('an agent that this worker lacks', () => {
  const input = { agent: 'unknown' };

  test('is left to other workers', async () => {
    const { advance } = hostOf([two]);
    expect(await advance(input)).toEqual({ unable: 'This worker has no agent named "unknown".' });
  });

  test('ends its run after a while, by name', async () => {
    const { advance } = hostOf([two], { agentMissingMs: 0 });
    await delay(2);
    const { end } = await advance(input);
    expect(end).toMatchObject({ final: true, failure: { name: 'AgentNotFoundError' } });
    expect(end!.failure!.message).toContain('Cannot run agent "unknown"');
  });
});

describe('a loop that kills its process', () => {
  test('leaves a trace where its task was tried before', async () => {
    const { advance } = hostOf([two], { attempt: 2 });
    const { built } = await advance();
    expect(built).toMatchObject({ traced: true });
    expect(signals).toEqual([['__agents_build', built!.epoch, undefined]]);
  });

  test('takes the trace back if it lives, though its task was over by then', async () => {
    const { host, advance } = hostOf([two], { attempt: 2, overAfter: 1 });
    expect(await advance({ inFlight: 1 })).toEqual({ again: true });
    const { epoch } = host.find('run-1')!;
    expect(signals).toEqual([
      ['__agents_build', epoch, undefined],
      ['__agents_build', epoch, 'survived'],
    ]);
  });

  test('leaves none at the first attempt', async () => {
    await hostOf([two]).advance();
    expect(signals).toEqual([]);
  });

  test('is not built between two tries of a task, when the server tells of none', async () => {
    const { host, advance } = hostOf([two], { attempt: 2, noneAfter: 2 });
    await advance({}, 'run-1');
    await advance({}, 'run-2');
    expect(await advance({}, 'run-3')).toEqual({ again: true });
    expect(host.find('run-3')).toBeUndefined();
  });

  test('is built for a server that never tells of tasks', async () => {
    const { host, advance } = hostOf([two], { noneAfter: 0 });
    await advance();
    expect(host.find('run-1')).toBeDefined();
  });

  test('is not built any more after a few times', async () => {
    const { host, advance } = hostOf([two], { attempt: 4 });
    expect((await advance({ deaths: 5 })).end).toMatchObject({
      final: true,
      failure: { name: 'LoopKillsWorkerError' },
    });
    expect(host.size).toBe(0);
  });
});

describe('a host keeps a loop', () => {
  const later = () => Date.now() + 2 * MINUTE;

  test('until it has only waited for long', async () => {
    const { host, advance } = hostOf([waiting]);
    await advance();
    host.sweep();
    expect(host.size).toBe(1);
    host.sweep(later());
    expect(host.size).toBe(0);
  });

  test('that is busy with work of its own, however long', async () => {
    const busy = agent('busy', async () => await delay(500, undefined, { ref: false }));
    const { host, advance } = hostOf([busy]);
    await advance({ inFlight: 1 });
    host.sweep(later());
    expect(host.size).toBe(1);
  });

  test('of which a call runs, however long', async () => {
    const calling = agent('calling', async () => await step('long', () => new Promise(() => {})));
    const { host, advance } = hostOf([calling]);
    const { steps } = await advance();
    const { key } = steps![0]!;
    host.calls.join(`run-1/${key}`, host.find('run-1')!.closure(key), MINUTE);
    host.sweep(later());
    expect(host.size).toBe(1);
  });

  test('one of whose steps is tried again and again', async () => {
    const calling = agent('calling', async () => await step('fails', () => 'later'));
    const { host, advance } = hostOf([calling], { parkAfterMs: 60 });
    const { steps } = await advance();
    await delay(80);
    host.find('run-1')!.closure(steps![0]!.key);
    host.sweep();
    expect(host.size).toBe(1);
    await delay(80);
    host.sweep();
    expect(host.size).toBe(0);
  });

  test('for which somebody waits', async () => {
    const { host, advance } = hostOf([waiting]);
    const { built } = await advance();
    const watch = host.watch('run-1', built!.epoch, 1, 200);
    host.sweep(later());
    expect(host.size).toBe(1);
    expect(await watch).toBe('quiet');
  });

  test('beyond the cap only if it does not wait long: a turn is no long wait', async () => {
    const { host, advance } = hostOf([waiting, two], { maxLoops: 1 });
    await advance({ agent: 'two' }, 'active-1');
    await advance({ agent: 'two' }, 'active-2');
    await advance({ agent: 'waiting' }, 'parked');
    host.sweep();
    expect([host.size, host.find('parked')]).toEqual([2, undefined]);
  });

  test('and drops all of them when it closes', async () => {
    const { host, advance } = hostOf([two]);
    await advance();
    const loop = host.find('run-1')!;
    host.close();
    expect([host.size, loop.dropped]).toEqual([0, true]);
  });
});

describe('a watch', () => {
  test.each([
    ['ready when the loop asks', async () => await delay(30).then(() => turn('late')), 'ready'],
    ['quiet when the loop is', async () => await delay(2_000, 'late', { ref: false }), 'quiet'],
  ])('ends %s', async (_how, body, result) => {
    const { host, advance } = hostOf([agent('watched', body)]);
    const { built } = await advance({ acts: 1 });
    expect(await host.watch('run-1', built!.epoch, 0, 150)).toBe(result);
  });

  test('ends when the loop is gone', async () => {
    const { host, advance } = hostOf([waiting]);
    const { built } = await advance();
    expect(await host.watch('run-1', 'other', 1, 100)).toBe('gone');
    const watch = host.watch('run-1', built!.epoch, 1, MINUTE);
    await advance();
    expect(await watch).toBe('gone');
  });
});
