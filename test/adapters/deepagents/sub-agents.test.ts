/** Sub-agents: each has its own answers after a crash, may be a workflow of its own, and waits for people with its parent. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { answer, approve, reject } from '../../../src/index.ts';
import { contractScene, inGroups, kills } from '../../contract/contract-scene.ts';
import { assertReplays, chainOf, repeatedSteps, unique } from '../../kit/temporal.ts';
import { untilAsked, untilWaiting } from '../../kit/waiting-runs.ts';
import { module, script } from './deep-agents.ts';

const { crash, spawn, start, bodiesOf, callsOf } = contractScene({ module }, script);
const picksOf = (result: unknown) =>
  String(result)
    .split(' | ')
    .map((each) => each.replace('picked', 'picks'))
    .toSorted();
const sum = (counts: number[]) => counts.reduce((all, each) => all + each, 0);

describe.each([
  // Both pickers' two turns and one pick, and the parent's two turns.
  { agent: 'twins', steps: 8, of: 'in the same words' },
  { agent: 'team', steps: 4, of: 'that are workflows of their own' },
])('two tasks at once $of', ({ agent, steps }) => {
  let whole: Awaited<ReturnType<typeof crash>>;
  beforeAll(async () => (whole = await crash(undefined, agent)));

  test('have an answer each', () => {
    expect(picksOf(whole.outcome.result)).toEqual(['picks 1 case:X', 'picks 2 case:X']);
    expect(whole.bodies).toEqual({ 'picks 1 case:X': 1, 'picks 2 case:X': 1 });
    expect(whole.outcome.records).toHaveLength(steps);
  });

  // Of the eight answers, whichever run they are of.
  test.each(inGroups(kills(8, true)))('keep their own, killed at %j', async (group) => {
    const runs = await Promise.all(group.map(async (kill) => await crash(kill, agent)));
    for (const [i, { outcome, bodies, calls, histories }] of runs.entries()) {
      const picks = picksOf(outcome.result);
      expect(new Set(picks).size).toBe(2);
      expect(Object.keys(bodies)).toEqual(expect.arrayContaining(picks));
      // What was under way is asked or done again, and a pick that is asked again is another one: of two at once that may be
      // both before an answer was recorded, and the other one after it.
      const again = group[i]!.when === 'before' ? 2 : 1;
      expect(Object.keys(bodies).length).toBeLessThanOrEqual(2 + again);
      expect(sum(Object.values(bodies))).toBeLessThanOrEqual(2 + again);
      expect(sum(calls)).toBeLessThanOrEqual(6 + again);
      expect(histories.flatMap((history) => repeatedSteps([history]))).toEqual([]);
      await assertReplays(histories);
    }
  });
});

describe('a deep agent and its sub-agent that wait for people at once', () => {
  const decisions = {
    approved: {
      decide: { signal: approve, rest: {} },
      helped: 'helped: charged 7 case:X',
      charged: { 'charges 7 case:X': 1 },
    },
    edited: {
      decide: { signal: approve, rest: { arguments: { what: '5' } } },
      helped: 'helped: charged 5',
      charged: {},
    },
    rejected: {
      decide: { signal: reject, rest: { reason: 'too much' } },
      helped: expect.stringMatching(/helped: .*too much/),
      charged: {},
    },
  };
  const desk = async ({ signal, rest }: (typeof decisions)[keyof typeof decisions]['decide']) => {
    const id = unique('desk');
    const first = await spawn(id);
    const handle = await start('desk', id);
    await untilWaiting(handle, ['charge-1']);
    await untilAsked(handle, ['interrupt-1']);
    await first.kill();
    const second = await spawn(id);
    await handle.signal(signal as typeof approve, { id: 'charge-1', ...rest });
    await untilAsked(handle, ['interrupt-1']);
    await second.kill();
    const third = await spawn(id);
    await handle.signal(answer, { id: 'interrupt-1', value: 'yes' });
    const result = String(await handle.result()).replaceAll(id, 'X');
    const [confirmed, helped] = result.split(' | ');
    const histories = await chainOf(handle);
    await third.kill();
    return { confirmed, helped, charged: bodiesOf(id), calls: callsOf(id).length, histories };
  };

  test('go on when both are answered, over kill -9', async () => {
    const all = Object.values(decisions);
    const seen = await Promise.all(all.map(async ({ decide }) => await desk(decide)));
    for (const [i, { histories, ...outcome }] of seen.entries()) {
      const { helped, charged } = all[i]!;
      expect(outcome).toEqual({ confirmed: 'confirmed yes', helped, charged, calls: 4 });
      await assertReplays(histories);
    }
  });
});
