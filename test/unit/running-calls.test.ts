import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { RunningCalls } from '../../src/loop/running-calls.ts';

const MINUTE = 60_000;
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Calls of one closure, which settles when the test says so. */
function closure() {
  const started: { signal: AbortSignal; resolve(value: unknown): void; reject(error: unknown): void }[] = [];
  const run = (signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    started.push({ signal, resolve, reject });
    return promise.then((value) => ({ value }));
  };
  return { run, started };
}

describe('an attempt', () => {
  test('joins the call that runs already: it is paid once', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    const [first, second] = [calls.join('r/k', run, MINUTE)!, calls.join('r/k', run, MINUTE)!];
    started[0]!.resolve(1);
    expect(await Promise.all([first.result, second.result])).toEqual([{ value: 1 }, { value: 1 }]);
    expect(started).toHaveLength(1);
  });

  test('joins it also where the loop, and so the closure, is gone', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    calls.join('r/k', run, MINUTE);
    const second = calls.join('r/k', undefined, MINUTE)!;
    started[0]!.resolve(1);
    expect(await second.result).toEqual({ value: 1 });
  });

  test('of another run or key has a call of its own', () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    for (const id of ['r/k', 'r/k2', 'r2/k']) calls.join(id, run, MINUTE);
    expect(started).toHaveLength(3);
  });

  test('finds nothing where there is neither a call nor a closure', () => {
    expect(new RunningCalls().join('r/k', undefined, MINUTE)).toBeUndefined();
  });

  test('that comes late gets the result for 30 s, then a new call', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    calls.leave('r/k', calls.join('r/k', run, MINUTE)!);
    started[0]!.resolve(1);
    await jest.advanceTimersByTimeAsync(29_000);
    calls.join('r/k', run, MINUTE);
    expect(started).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(2_000);
    calls.join('r/k', run, MINUTE);
    expect(started).toHaveLength(2);
  });

  test('after a failed one tries again', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    const first = calls.join('r/k', run, MINUTE)!;
    started[0]!.reject(new Error('no'));
    await expect(first.result).rejects.toThrow('no');
    calls.join('r/k', run, MINUTE);
    expect(started).toHaveLength(2);
  });

  test('of a closure that throws at once is a failed call, not an exception', async () => {
    const calls = new RunningCalls();
    const call = calls.join(
      'r/k',
      () => {
        throw new Error('at once');
      },
      MINUTE,
    )!;
    await expect(call.result).rejects.toThrow('at once');
  });
});

describe('a call that no attempt waits for', () => {
  test('goes on for 15 s, then its signal fires and the next attempt starts anew', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    calls.leave('r/k', calls.join('r/k', run, MINUTE)!);
    await jest.advanceTimersByTimeAsync(14_000);
    expect(started[0]!.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(started[0]!.signal.aborted).toBe(true);
    calls.join('r/k', run, MINUTE);
    expect(started).toHaveLength(2);
  });

  test('goes on while another attempt waits for it', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    const call = calls.join('r/k', run, MINUTE)!;
    calls.join('r/k', run, MINUTE);
    calls.leave('r/k', call);
    await jest.advanceTimersByTimeAsync(50_000);
    expect(started[0]!.signal.aborted).toBe(false);
  });

  test('has 15 s from when the last attempt left, whenever earlier ones did', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    const call = calls.join('r/k', run, MINUTE)!;
    calls.leave('r/k', call);
    await jest.advanceTimersByTimeAsync(10_000);
    calls.leave('r/k', calls.join('r/k', run, MINUTE)!);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(started[0]!.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(6_000);
    expect(started[0]!.signal.aborted).toBe(true);
  });
});

describe('a call that takes too long', () => {
  test('fails as one that may pass, its signal fires, and the next attempt starts anew', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    const call = calls.join('r/k', run, 5_000)!;
    const failed = expect(call.result).rejects.toMatchObject({ nonRetryable: false, type: 'TimeoutError' });
    await jest.advanceTimersByTimeAsync(5_000);
    await failed;
    expect(started[0]!.signal.aborted).toBe(true);
    calls.join('r/k', run, 5_000);
    expect(started).toHaveLength(2);
  });

  test('is one that takes longer than its limit, and no other', async () => {
    const calls = new RunningCalls();
    const { run, started } = closure();
    const [call, long] = [calls.join('r/k', run, 5_000)!, calls.join('r/long', run, 1e12)!];
    started[0]!.resolve(1);
    started[1]!.resolve(2);
    await jest.advanceTimersByTimeAsync(6_000);
    expect(await Promise.all([call.result, long.result])).toEqual([{ value: 1 }, { value: 2 }]);
    expect(started[0]!.signal.aborted).toBe(false);
  });
});

test('a run is busy while a call of its own runs', async () => {
  const calls = new RunningCalls();
  const { run, started } = closure();
  calls.join('r1/k', run, MINUTE);
  expect([calls.isBusy('r1'), calls.isBusy('r'), calls.isBusy('r2')]).toEqual([true, false, false]);
  started[0]!.resolve(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(calls.isBusy('r1')).toBe(false);
});

test("a cancelled run's calls are aborted with its reason, and no other's", () => {
  const calls = new RunningCalls();
  const { run, started } = closure();
  for (const id of ['r/a', 'r/b', 'r2/a']) calls.join(id, run, MINUTE);
  const reason = new Error('cancelled');
  calls.abortRun('r', reason);
  expect(started.map(({ signal }) => signal.reason)).toEqual([reason, reason, undefined]);
});

test('a call that hangs does not keep its process alive', () => {
  const module = JSON.stringify(new URL('../../src/loop/running-calls.ts', import.meta.url).href);
  const script = `
    import { RunningCalls } from ${module};
    new RunningCalls().join('r/k', () => new Promise(() => {}), ${MINUTE});
    console.log('done');`;
  const options = ['--input-type=module', '-e', script];
  expect(String(execFileSync(process.execPath, options, { timeout: 20_000 }))).toBe('done\n');
});
