import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { agent, nonCancellable, step } from '../../src/index.ts';
import { hostOf, recordOf, signals, turn, two } from '../kit/host-of-loops.ts';

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
    expect(await advance(input)).toEqual({
      unable:
        'This worker has no agent named "unknown", only two. The run is left to other workers for 60 s.',
    });
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
