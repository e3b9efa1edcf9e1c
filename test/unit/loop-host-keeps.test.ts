import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { agent, step } from '../../src/index.ts';
import { hostOf, MINUTE, turn, two, waiting } from '../kit/host-of-loops.ts';

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
