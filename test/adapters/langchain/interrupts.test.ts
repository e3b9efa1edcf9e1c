/** Graphs that interrupt themselves, their worker killed while they wait: what was done before is not done again. */
import { expect, test } from '@jest/globals';
import { answer } from '../../../src/index.ts';
import { scene } from '../../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps } from '../../kit/temporal.ts';
import { untilAsked } from '../../kit/waiting-runs.ts';

/** Runs an agent; answers in rounds, whose ids all wait at once; each time before an answer the worker is killed. */
async function killedAndAnswered(name: string, ...rounds: (readonly [id: string, value: string])[][]) {
  await using stage = await scene('interrupt-agents', {
    script: ({ messages }) => ({ text: `re ${messages.at(-1)!.text}` }),
  });
  const spawn = async () =>
    await stage.spawn({ env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: stage.provider.url } });
  let worker = await spawn();
  const handle = await stage.start(name);
  const prompts: string[][] = [];
  for (const round of rounds) {
    for (let left = [...round]; left.length > 0; left = left.slice(1)) {
      const asked = await untilAsked(
        handle,
        left.map(([id]) => id),
      );
      if (left.length === round.length) prompts.push(asked.map(({ prompt }) => prompt));
      await worker.kill();
      worker = await spawn();
      const [[id, value]] = left as [(typeof round)[number]];
      await handle.signal(answer, { id, value });
    }
  }
  const said: unknown = await handle.result();
  const histories = await chainOf(handle);
  expect(repeatedSteps(histories)).toEqual([]);
  await assertReplays(histories);
  return { said, prompts, asked: stage.provider.requests.length, did: stage.tally() };
}

const worked = (name: string, heard: string) =>
  [
    `re Draft ${name}`,
    `${name} weighs ${name.length}`,
    `filed ${name}`,
    `saved ${name}`,
    heard,
    `re Finish ${name} with ${heard}`,
  ].join('; ');
const once = (...names: string[]) =>
  Object.fromEntries(
    names.flatMap((name) => ['weighs', 'files', 'saves'].map((did) => [`${did} ${name}`, 1])),
  );

test('three questions at once are answered in reverse order, the worker killed before each answer', async () => {
  const { said, prompts } = await killedAndAnswered('three-at-once', [
    ['interrupt-3', 'three'],
    ['interrupt-2', 'two'],
    ['interrupt-1', 'one'],
  ]);
  expect(prompts).toEqual([['c', 'b', 'a']]);
  expect(said).toEqual(['a one', 'b two', 'c three', 'all 3']);
});

test('a graph and one within it ask at once, both after work that is done once', async () => {
  const { said, prompts, asked, did } = await killedAndAnswered('parent-and-sub', [
    ['interrupt-1', 'one'],
    ['interrupt-2', 'two'],
  ]);
  expect(prompts[0]!.toSorted()).toEqual(['above', 'below']);
  const heard = Object.fromEntries(prompts[0]!.map((name, i) => [name, ['one', 'two'][i]!]));
  expect(said).toEqual([
    worked('above', heard['above']!),
    worked('below', heard['below']!),
    'after 1',
    'all 3',
  ]);
  expect({ asked, did }).toEqual({ asked: 4, did: once('above', 'below') });
});

test('nodes that work before they ask have worked once, however often they run again', async () => {
  const { said, asked, did } = await killedAndAnswered(
    'work-before',
    [['interrupt-1', 'one']],
    [['interrupt-2', 'two']],
  );
  expect(said).toEqual([worked('first', 'one'), worked('second', 'two')]);
  expect({ asked, did }).toEqual({ asked: 4, did: once('first', 'second') });
});
