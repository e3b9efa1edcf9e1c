import { expect, test } from '@jest/globals';
import { askStep, scopeKey } from '../../src/loop/ask.ts';
import { addPlaces, type Place } from '../../src/loop/places.ts';
import { outputOf, PretendRun } from '../kit/pretend-run.ts';

let place: Place | undefined;
addPlaces(() => place);

const ask = async (request: string) => await askStep<string>({ kind: 'step', name: 'ask', request });
const run = (name: string) => (place = { name, execution: {} });

/** Runs a program to its end, every step answered by a number. @returns what it gave */
async function give(body: () => Promise<unknown>): Promise<unknown> {
  const kept = new PretendRun(body);
  for (let number = 1; ;) {
    const got = await kept.settle();
    place = got.end ? undefined : place;
    if (got.end) return outputOf(got.end);
    for (const key of kept.inFlight.keys()) kept.answer(key, number++);
  }
}

test('code that is run again in the same place has the answers from before, in their order', async () => {
  const body = async () => {
    run('node');
    const before = [await ask('a'), await ask('a'), await ask('b')];
    run('node');
    const again = [await ask('a'), await ask('a'), await ask('b'), await ask('a')];
    return { before, again };
  };
  expect(await give(body)).toEqual({ before: [1, 2, 3], again: [1, 2, 3, 4] });
});

test('another place, or none, asks anew', async () => {
  const body = async () => {
    run('node');
    const first = await ask('a');
    run('other node');
    const second = await ask('a');
    place = undefined;
    return [first, second, await ask('a')];
  };
  expect(await give(body)).toEqual([1, 2, 3]);
});

test('a scope is the same again, too', async () => {
  const scope = () => scopeKey('agent-tool', 'expert', { why: true });
  const body = async () => {
    run('node');
    const before = [scope(), scope()];
    run('node');
    return { before, again: [scope(), scope()] };
  };
  const { before, again } = (await give(body)) as Record<string, string[]>;
  expect(again).toEqual(before);
  expect(new Set(before)).toHaveProperty('size', 2);
});
