/** Graphs that interrupt themselves, their worker killed while they wait: what was done before is not done again. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { answer } from '../../../src/index.ts';
import { scene } from '../../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps } from '../../kit/temporal.ts';
import { untilAsked } from '../../kit/waiting-runs.ts';

/** Runs an agent; answers in rounds, whose ids all wait at once; each time before an answer the worker is killed. */
async function killedAndAnswered(
  of: string | readonly [name: string, input: unknown],
  ...rounds: (readonly (readonly [id: string, value: string])[])[]
) {
  const [name, input] = [of].flat() as [string, unknown?];
  await using stage = await scene('interrupt-agents', {
    script: ({ messages }) => ({ text: `re ${messages.at(-1)!.text}` }),
    env: { KIT_BLOBS: join(mkdtempSync(join(tmpdir(), 'interrupts-')), 'blobs') },
  });
  const spawn = async () =>
    await stage.spawn({ env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: stage.provider.url } });
  let worker = await spawn();
  const handle = await stage.start(name, input);
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

const KEPT = ['nothing', 'saver', 'thread', 'sync'] as const;
/** Those whose whole state is saved only at the end. */
const LENT = ['nothing', 'thread'] as const;
const oneThenTwo = [[['interrupt-1', 'one']], [['interrupt-2', 'two']]] as const;

test('a graph that a node ran before it asks has run once, wherever it is kept', async () => {
  const all = await Promise.all(
    KEPT.map(async (kept) => await killedAndAnswered(['graph-then-asks', kept], ...oneThenTwo)),
  );
  for (const [i, { said, asked, did }] of all.entries()) {
    const seen = { kept: KEPT[i], said, asked, did };
    const heard = ['re Draft x', 'x weighs 1', 'one', 'two'];
    expect(seen).toEqual({ kept: KEPT[i], said: heard, asked: 1, did: { 'weighs x': 1 } });
  }
});

test('a graph that a node of a graph within another ran has run once', async () => {
  const { said, asked, did } = await killedAndAnswered('graph-then-asks-below', ...oneThenTwo);
  expect(said).toEqual(['re Draft x', 'x weighs 1', 'one', 'two']);
  expect({ asked, did }).toEqual({ asked: 1, did: { 'weighs x': 1 } });
});

test.each(['graphs-in-turn', 'graphs-at-once'])(
  '%s that one node runs ask once each, wherever they are kept',
  async (name) => {
    const all = await Promise.all(
      LENT.map(async (kept) => await killedAndAnswered([name, kept], ...oneThenTwo)),
    );
    for (const [i, { said, prompts, did }] of all.entries()) {
      // LangGraph has a task wait for one thing at a time, of graphs at once whichever came to it first.
      expect(prompts.flat().toSorted()).toEqual(['x?', 'yy?']);
      if (name === 'graphs-in-turn') expect(prompts).toEqual([['x?'], ['yy?']]);
      const heard = Object.fromEntries(prompts.map(([prompt], nth) => [prompt, ['one', 'two'][nth]!]));
      const expected = [`x weighs 1 ${heard['x?']}`, `yy weighs 2 ${heard['yy?']}`];
      const seen = { kept: LENT[i], said, did };
      expect(seen).toEqual({ kept: LENT[i], said: expected, did: { 'weighs x': 1, 'weighs yy': 1 } });
    }
  },
);

test('a person who answers after the wait was given up changes nothing, also not in a loop that is built anew', async () => {
  await using stage = await scene('interrupt-agents');
  const worker = await stage.spawn();
  const handle = await stage.start('waits-shortly');
  await untilAsked(handle, ['interrupt-3']);
  await handle.signal(answer, { id: 'interrupt-1', value: 'late' });
  await handle.signal(answer, { id: 'interrupt-2', value: 'late' });
  await worker.kill();
  await stage.spawn();
  await handle.signal(answer, { id: 'interrupt-3', value: 'in time' });
  expect(await handle.result()).toEqual([
    'nobody is there at first',
    'first weighs 5',
    'nobody is there at second',
    'second weighs 6',
    'and now? in time',
  ]);
  expect(stage.tally()).toEqual({ 'weighs first': 1, 'weighs second': 1 });
  const histories = await chainOf(handle);
  expect(repeatedSteps(histories)).toEqual([]);
  await assertReplays(histories);
});

test.each([false, true])(
  'a worker dies as a wait is given up: that is not known yet, and an answer counts: %s',
  async (answered) => {
    await using stage = await scene('interrupt-agents');
    const worker = await stage.spawn({ kill: { step: 1, when: 'before' } });
    const handle = await stage.start('waits-shortly');
    await worker.ended;
    if (answered) await handle.signal(answer, { id: 'interrupt-1', value: 'here' });
    await stage.spawn();
    await untilAsked(handle, ['interrupt-3']);
    await handle.signal(answer, { id: 'interrupt-3', value: 'in time' });
    expect(await handle.result()).toEqual([
      answered ? 'well? here' : 'nobody is there at first',
      'first weighs 5',
      'nobody is there at second',
      'second weighs 6',
      'and now? in time',
    ]);
    const { killed: _, ...did } = stage.tally();
    expect(did).toEqual({ 'weighs first': 1, 'weighs second': 1 });
    await assertReplays(await chainOf(handle));
  },
);
