/** The turns of a fork that stand, whatever its code asks. */
import { expect, test } from '@jest/globals';
import { askStep } from '../../src/loop/ask.ts';
import { PretendRun } from '../kit/pretend-run.ts';

const turn = async (prompt: string, name = 'gpt') =>
  await askStep<string>({ kind: 'turn', name, request: { prompt } });

/** What a loop says of all answers of another, whose turns stand, and what it asks beside them. */
async function forked(body: (prompt: string) => Promise<unknown>, other = body) {
  const first = new PretendRun(async () => await body('old'));
  for (let { steps, end } = await first.advance(); !end; { steps, end } = await first.advance())
    for (const { key } of steps ?? []) first.answer(key, `answer ${first.records.length + 1}`);
  const { records } = first;
  const run = new PretendRun(async () => await other('new'), { records, pinned: records.length });
  const { steps = [], end } = await run.advance(100);
  return { end, asks: steps.map(({ name }) => name) };
}

test('stand one after the other, though each is asked otherwise', async () => {
  const body = async (prompt: string) => [await turn(`${prompt} 1`), await turn(`${prompt} 2`)];
  expect((await forked(body)).end).toEqual({ output: ['answer 1', 'answer 2'] });
});

test('a turn that was put before them takes the first, and what is asked unchanged then is asked anew', async () => {
  const body = async () => [await turn('one'), await turn('two')];
  const other = async () => [await turn('zero'), await turn('one'), await turn('two')];
  const { end, asks } = await forked(body, other);
  expect(end).toBeUndefined();
  expect(asks).toEqual(['gpt']);
});

test('answer a turn of the same model first', async () => {
  const body = async (prompt: string) => [
    await turn(`${prompt} a`, 'small'),
    await turn(`${prompt} b`, 'large'),
  ];
  const other = async (prompt: string) => [
    await turn(`${prompt} b`, 'large'),
    await turn(`${prompt} a`, 'small'),
  ];
  expect((await forked(body, other)).end).toEqual({ output: ['answer 2', 'answer 1'] });
});

test('are taken by whoever asks for them unchanged, also beside one that was changed', async () => {
  const body = async (prompt: string) => await Promise.all([turn(`${prompt} a`), turn('b')]);
  expect((await forked(body)).end).toEqual({ output: ['answer 1', 'answer 2'] });
});
