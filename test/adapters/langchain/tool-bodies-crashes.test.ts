/** A tool that runs a graph, killed: what it asked before its graph stands, and what it came to is not done again. */
import { beforeAll, expect, test } from '@jest/globals';
import type { ProviderScript } from '../../../src/testing/index.ts';
import { contractScene, eachStep, inGroups } from '../../contract/contract-scene.ts';
import { assertReplays, repeatedSteps } from '../../kit/temporal.ts';
import type { KillAt } from '../../kit/workers.ts';

interface Outcome {
  plan: string;
  charged: string;
  said: string[];
  summary: string;
}

/** Asked again, it says something else. */
const script: ProviderScript = ({ messages, attempt }) => ({
  text: `(${messages.at(-1)!.text}) ${attempt}`,
});
const module = new URL('../../fixtures/tool-body-agents.ts', import.meta.url).href;
const { crash } = contractScene({ module }, script);
const run = async (kill?: KillAt) => await crash(kill, 'plans');
/** Two at once: that they run a graph, two turns of that, one after it, and their end; and the last turn. */
const STEPS = 11;
const kills = process.env['TEST_SOAK']
  ? eachStep(STEPS)
  : eachStep(STEPS).filter(({ step, when }) => (when === 'before' ? [3, 9] : [2, 10]).includes(step));
const sum = (counts: number[]) => counts.reduce((all, each) => all + each, 0);
let whole: Awaited<ReturnType<typeof run>>;

beforeAll(async () => (whole = await run()));

test('records what it asked before its graph with that, and what it came to', () => {
  expect(whole.outcome.records).toHaveLength(STEPS);
  expect(whole.calls).toEqual(Array.from({ length: 9 }, () => 1));
  expect(whole.bodies).toEqual({
    'charge a case:X': 1,
    'charge b case:X': 1,
    'mail a case:X': 1,
    'mail b case:X': 1,
  });
});

test.each(inGroups(kills))('comes to one whole, killed at %j', async (group) => {
  const runs = await Promise.all(group.map(run));
  for (const [i, { outcome, calls, bodies, histories }] of runs.entries()) {
    const { one, other } = outcome.result as { one: Outcome; other: Outcome };
    for (const { plan, charged, said, summary } of [one, other]) {
      expect(charged).toMatch(/^charged for [ab] case:X$/);
      expect(said[0]).toBe(plan);
      expect(said[1]).toContain(plan);
      expect(said[2]).toContain(said[1]);
      expect(summary).toContain(said[2]);
    }
    expect(outcome.records.length).toBe(STEPS);
    expect(histories.flatMap((history) => repeatedSteps([history]))).toEqual([]);
    const { step, when } = group[i]!;
    // Killed before the graphs began, the tools are run again as any tool is; else only what was under way, of two at once.
    const begun = step > 2 || (step === 2 && when === 'after');
    const { 'charge a case:X': a, 'charge b case:X': b, ...mails } = bodies;
    if (begun) expect([a, b]).toEqual([1, 1]);
    if (begun) expect(sum(calls)).toBeLessThanOrEqual(9 + 2);
    // What is no step is done again until the tool's end is recorded.
    expect(sum(Object.values(mails))).toBeLessThanOrEqual(step >= STEPS - 1 && when === 'after' ? 2 : 4);
    expect(Object.keys(mails)).toHaveLength(2);
    await assertReplays(histories);
  }
});
