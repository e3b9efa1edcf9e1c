import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { Poke } from '../../src/loop/poke.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A poke whose first sends fail, if so asked. */
function poke(options: { failures?: number; needed?: () => boolean; gone?: boolean } = {}) {
  const seen = { sent: 0, gone: 0 };
  let failures = options.failures ?? 0;
  const made = new Poke({
    needed: options.needed ?? (() => true),
    isGone: () => options.gone === true,
    gone: () => void seen.gone++,
    send: async () => {
      if (failures-- > 0) throw new Error('unavailable');
      seen.sent++;
    },
  });
  return { made, seen };
}

test('steps asked one after the other make one poke', async () => {
  const { made, seen } = poke();
  for (let n = 0; n < 5; n++) made.ready();
  await jest.advanceTimersByTimeAsync(10);
  expect(seen.sent).toBe(1);
});

test('a poke that the server took is not repeated, however long nobody comes', async () => {
  const { made, seen } = poke();
  made.ready();
  await jest.advanceTimersByTimeAsync(10);
  made.ready();
  await jest.advanceTimersByTimeAsync(24 * 3_600_000);
  expect(seen.sent).toBe(1);
});

test('what is asked after an advance came needs a poke of its own', async () => {
  const { made, seen } = poke();
  made.ready();
  await jest.advanceTimersByTimeAsync(10);
  made.advanced();
  made.ready();
  await jest.advanceTimersByTimeAsync(10);
  expect(seen.sent).toBe(2);
});

test('an advance that comes first makes the poke needless', async () => {
  const { made, seen } = poke();
  made.ready();
  made.advanced();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(seen.sent).toBe(0);
});

test('nothing is sent where somebody waits for the loop by then', async () => {
  const { made, seen } = poke({ needed: () => false });
  made.ready();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(seen.sent).toBe(0);
});

describe('a poke that could not be sent', () => {
  test('is tried again, less and less often, until the server takes it', async () => {
    const { made, seen } = poke({ failures: 8 });
    made.ready();
    await jest.advanceTimersByTimeAsync(10 + 500 + 1_000 + 2_000 + 4_000 + 8_000 + 2 * 10_000);
    expect(seen.sent).toBe(0);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(seen.sent).toBe(1);
  });

  test('is not tried again once an advance came', async () => {
    const { made, seen } = poke({ failures: 1 });
    made.ready();
    await jest.advanceTimersByTimeAsync(10);
    made.advanced();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(seen.sent).toBe(0);
  });

  test('because the run is gone ends the loop, and is not tried again', async () => {
    const { made, seen } = poke({ failures: 100, gone: true });
    made.ready();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(seen).toEqual({ sent: 0, gone: 1 });
  });
});

test('between two advances at most one poke is taken by the server, and one is where it is needed', async () => {
  const event = fc.constantFrom<'ready' | 'advanced' | number>('ready', 'ready', 'advanced', 1, 5, 12, 600);
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 30 }), fc.nat({ max: 2 }), async (events, failures) => {
      const { made, seen } = poke({ failures });
      let [before, isReady] = [0, false];
      for (const happens of [...events, 60_000]) {
        if (happens === 'ready') {
          made.ready();
          isReady = true;
        } else if (happens === 'advanced') {
          made.advanced();
          [before, isReady] = [seen.sent, false];
        } else {
          await jest.advanceTimersByTimeAsync(happens);
          expect(seen.sent - before).toBeLessThanOrEqual(1);
        }
      }
      if (isReady) expect(seen.sent - before).toBe(1);
    }),
  );
});
