import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { askStep } from '../../src/loop/ask.ts';
import { outputOf, PretendRun } from '../kit/pretend-run.ts';
import { programs, run } from '../kit/programs.ts';

// The waits for records that a changed loop may never ask are long; here a second takes 20 ms.
const realNow = Date.now;
const start = realNow();
beforeEach(() => void jest.spyOn(Date, 'now').mockImplementation(() => start + (realNow() - start) * 50));
afterEach(() => void jest.restoreAllMocks());

const turn = (context: string) => askStep<string>({ kind: 'turn', name: 'gpt', request: { context } });
const tool = (name: string, readOnly = false) =>
  askStep<string>({ kind: 'tool', name, request: {}, ...(readOnly && { readOnly }) });
const look = (name: string) => tool(name, true);

/** Looks, asks the model about it, acts. `prompt` is what changes. */
const agentWith = (prompt: string) => async () => {
  const seen = await look('look');
  const plan = await turn(`${prompt} ${seen}`);
  const again = await look('look again');
  await tool('act');
  return await turn(`${prompt} ${plan} ${again}`);
};

async function untilDone(kept: PretendRun): Promise<unknown> {
  for (let n = 0; ; n++) {
    const { end } = await kept.settle();
    if (end) return outputOf(end);
    const [key, step] = [...kept.inFlight][0]!;
    kept.answer(key, `${step.name} ${kept.records.length}`);
  }
}

const asked = (kept: PretendRun) => kept.asked.map(({ name }) => name);

describe('a loop whose code changed', () => {
  test('asks the changed turn and reads again what is read-only, but does nothing twice that may have an effect', async () => {
    const kept = new PretendRun(agentWith('v1'));
    await untilDone(kept);
    kept.build(agentWith('v2'));
    expect(await untilDone(kept)).toBe('gpt 7');
    expect(asked(kept)).toEqual(['gpt', 'look again', 'gpt']);
    expect(kept.divergedAt).toBe(5);
  });

  test('uses no answer from before the change where it reads anew', async () => {
    const kept = new PretendRun(agentWith('v1'));
    await untilDone(kept);
    kept.build(async () => await Promise.all([turn('new'), look('look'), look('look again')]));
    expect(await untilDone(kept)).toEqual(['gpt 5', 'look 6', 'look again 7']);
  });

  test('that only stops asking for something is served all the rest, and reads nothing again', async () => {
    const kept = new PretendRun(agentWith('v1'));
    await untilDone(kept);
    kept.build(async () => [await look('look again'), await tool('act')]);
    expect(await untilDone(kept)).toEqual(['look again 2', 'act 3']);
    expect(kept.divergedAt).toBeUndefined();
  });

  test('and was rebuilt asks the same, however often, and reads nothing a third time', async () => {
    const kept = new PretendRun(agentWith('v1'));
    await untilDone(kept);
    kept.build(agentWith('v2'));
    const output = await untilDone(kept);
    for (let times = 0; times < 3; times++) {
      kept.build();
      expect(await untilDone(kept)).toBe(output);
      expect(asked(kept)).toEqual([]);
    }
  });

  test('and is lost between its turn and its reading asks for just the reading', async () => {
    const kept = new PretendRun(agentWith('v1'));
    await untilDone(kept);
    kept.build(agentWith('v2'));
    await kept.settle();
    await kept.answerTo('gpt');
    expect(kept.waitsFor).toEqual(['look again']);
    kept.build();
    await kept.settle();
    expect(asked(kept)).toEqual(['look again']);
    expect(kept.inFlight.size).toBe(1);
  });

  test('and changed again reads again once more, and its rebuilt loops do not', async () => {
    const kept = new PretendRun(agentWith('v1'));
    await untilDone(kept);
    for (const version of ['v2', 'v3', 'v4']) {
      kept.build(agentWith(version));
      const output = await untilDone(kept);
      expect(asked(kept)).toEqual(['gpt', 'look again', 'gpt']);
      kept.build();
      expect(await untilDone(kept)).toBe(output);
      expect(asked(kept)).toEqual([]);
    }
    const looks = kept.records.filter(({ name }) => name === 'look again').map(({ key }) => key);
    expect(looks).toEqual([looks[0], `${looks[0]}~1`, `${looks[0]}~2`, `${looks[0]}~3`]);
  });

  test('and went back pays for nothing that it had, and uses the newest reading', async () => {
    const kept = new PretendRun(agentWith('v1'));
    await untilDone(kept);
    kept.build(agentWith('v2'));
    await untilDone(kept);
    kept.build(agentWith('v1'));
    await untilDone(kept);
    expect(asked(kept)).toEqual(['gpt']);
    expect(kept.records.filter(({ name }) => name === 'act')).toHaveLength(1);
  });
});

test('a loop that asks what the run has lost, but had asked before, has not changed', async () => {
  const agent = async () =>
    await Promise.all([
      turn('slow'),
      (async () => {
        const plan = await turn('quick');
        return await turn(`${plan} ${await look('look')}`);
      })(),
    ]);
  const kept = new PretendRun(agent);
  await kept.settle();
  const [, quick] = kept.asked.map(({ key }) => key);
  kept.answer(quick!, 'go');
  await kept.settle();
  await kept.answerTo('look');
  kept.build();
  await kept.settle();
  expect(kept.divergedAt).toBeUndefined();
  expect(asked(kept)).toEqual(['gpt', 'gpt']);
});

describe('for any agent, whatever it is changed to, however often it is built', () => {
  const stage = fc.record({ program: programs(), answers: fc.nat({ max: 8 }) });
  const choices = fc.infiniteStream(fc.nat({ max: 1_000 }));

  test('nothing that may have an effect is asked again, and the same code asks the same after a restart', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stage, { minLength: 2, maxLength: 4 }), choices, async (stages, choose) => {
        const kept = new PretendRun(() => run(stages[0]!.program));
        for (const { program, answers } of stages) {
          kept.build(() => run(program));
          for (let n = 0; n <= answers; n++) {
            const { end } = await kept.settle();
            assertOnce(kept);
            if (end || kept.inFlight.size === 0) break;
            const open = openOf(kept);
            kept.build();
            await kept.settle();
            expect(openOf(kept)).toEqual(open);
            const keys = [...kept.inFlight.keys()];
            const key = keys[choose.next().value! % keys.length]!;
            kept.answer(key, `${key}:${kept.records.length}`);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  function assertOnce(kept: PretendRun): void {
    const keys = kept.records.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  }

  /** What the present loop waits for that has no record. */
  function openOf(kept: PretendRun): string[] {
    const had = new Set(kept.records.map(({ key }) => key));
    return kept.asked
      .map(({ key }) => key)
      .filter((key) => !had.has(key))
      .toSorted();
  }
});
