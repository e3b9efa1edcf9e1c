/** A deep agent that does all it can, killed: it ends the same, and nothing answered is done again. */
import { beforeAll, expect, test } from '@jest/globals';
import { contractScene, eachStep, inGroups } from '../../contract/contract-scene.ts';
import { assertReplays, repeatedSteps } from '../../kit/temporal.ts';
import { approveAll, module, script } from './deep-agents.ts';

const { crash } = contractScene({ module }, script);
const run = async (kill?: Parameters<typeof crash>[0]) => await crash(kill, 'everything', approveAll);
const sum = (counts: number[]) => counts.reduce((all, each) => all + each, 0);
/** Activities of an undisturbed run; its approvals are none. */
const STEPS = 23;
const kills = process.env['TEST_SOAK']
  ? eachStep(STEPS)
  : eachStep(STEPS).filter(({ step, when }) => (when === 'before' ? [2, 4, 11] : [4, 10]).includes(step));
/** Which steps a run took, in whichever order. */
const namesOf = ({ records }: { records: unknown[] }) =>
  records.map((record) => (JSON.parse(record as string) as { name: string }).name).toSorted();
let whole: Awaited<ReturnType<typeof run>>;

beforeAll(async () => (whole = await run()));

test('takes each step once when nothing happens', () => {
  const names = namesOf(whole.outcome);
  const timesEach = Object.fromEntries(
    [...new Set(names)].map((name) => [name, names.filter((each) => each === name).length]),
  );
  expect(timesEach).toEqual({
    // The memory, and the history that there is not yet.
    'FilesystemBackend.downloadFiles': 2,
    'FilesystemBackend.edit': 1,
    'FilesystemBackend.read': 1,
    // The large result and the history.
    'FilesystemBackend.write': 2,
    big: 1,
    // Three calls, each approved.
    charge: 6,
    'gpt-4.1-mini': 11,
    look: 1,
    seed: 1,
  });
  expect(whole.outcome.result).toEqual({
    said: expect.stringContaining('The old fact, and a new one.'),
    memory: 'The old fact, and a new one.',
    files: ['AGENTS.md', 'call_', 'session_'],
  });
  expect(whole.bodies).toEqual({ 'charges 1 case:X': 1, 'charges 7 case:X': 2 });
});

test.each(inGroups(kills))('ends the same, killed at %j', async (group) => {
  const runs = await Promise.all(group.map(run));
  for (const [i, { outcome, calls, bodies, histories }] of runs.entries()) {
    expect(outcome.result).toEqual(whole.outcome.result);
    expect(namesOf(outcome)).toEqual(namesOf(whole.outcome));
    expect(histories.flatMap((history) => repeatedSteps([history]))).toEqual([]);
    // What was under way is asked or done again: of sub-agents at once it may be two.
    const again = group[i]!.when === 'before' ? 2 : 0;
    const done = sum(calls) + sum(Object.values(bodies));
    expect(done).toBeLessThanOrEqual(sum(whole.calls) + sum(Object.values(whole.bodies)) + again);
    expect(Object.keys(bodies).toSorted()).toEqual(Object.keys(whole.bodies).toSorted());
    await assertReplays(histories);
  }
});
