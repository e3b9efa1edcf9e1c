/** What the SDK's shell, patch and computer tools do in this process, over kill -9. */
import { expect, test } from '@jest/globals';
import { approve, records } from '../../../src/index.ts';
import { assertReplays, chainOf } from '../../kit/temporal.ts';
import { scene } from '../../kit/scene.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';

const done = {
  'runs deploy': 1,
  'creates a.txt': 1,
  'clicks 1,2': 1,
  screenshot: 1,
  'asked after 0': 1,
  'asked after 1': 1,
  'asked after 2': 1,
  'asked after 3': 1,
};
/** What does not happen if nobody knows whether a step did; there is no picture after a click of which that is so. */
const undone: Record<string, string[]> = {
  shell: ['runs deploy'],
  'apply_patch.createFile': ['creates a.txt'],
  'computer.click': ['clicks 1,2', 'screenshot'],
  'computer.screenshot': ['screenshot'],
};
const shot = Buffer.from('1,2').toString('base64');

test.each([{}, { made: true }])('is a step each: %j', async (input: { made?: boolean }) => {
  await using acting = await scene('openai-agents-actions');
  await acting.spawn();
  const handle = await acting.start('acts', input);
  const answer = String(await handle.result());
  expect(answer).toContain('ran deploy');
  expect(answer).toContain('created a.txt');
  expect(answer).toContain(shot);
  expect(acting.tally()).toEqual(done);
  const steps = (await handle.query(records)).filter(({ kind }) => kind === 'tool').map(({ name }) => name);
  const [click, shoot, ...others] = [
    'computer.click',
    'computer.screenshot',
    'shell',
    'apply_patch.createFile',
  ];
  // One that is made for a run is there from its first turn on.
  expect(steps).toEqual(input.made ? [click, shoot, ...others.toReversed()] : [...others, click, shoot]);
});

test.each([[[1, 2, 3, 4]], [[5, 6, 7]]])(
  'is not done again after its answer, killed after each of steps %j; what the process took and had not begun is told as uncertain',
  async (steps) => {
    const kill = async (step: number) => {
      await using acting = await scene('openai-agents-actions');
      const worker = await acting.spawn({ kill: { step, when: 'after' } });
      const handle = await acting.start('acts', {});
      await worker.ended;
      await acting.spawn();
      await handle.result();
      const failed = (await handle.query(records)).filter(({ failure }) => failure);
      return { seen: acting.tally(), failed, histories: await chainOf(handle) };
    };
    for (const { seen, failed, histories } of await Promise.all(steps.map(kill))) {
      const all = { ...done, killed: 1 };
      expect({ ...all, ...seen }).toEqual(all);
      expect(failed.map(({ failure }) => failure!.name)).toEqual(failed.map(() => 'UncertainStepError'));
      expect(failed.length).toBeLessThanOrEqual(1);
      const missing = Object.keys(all).filter((what) => !(what in seen));
      expect(missing).toEqual(failed.flatMap(({ name }) => undone[name]!));
      await assertReplays(histories);
    }
  },
);

test('is never done twice: the model is told when the worker died with it', async () => {
  const die = async (what: string) => {
    await using acting = await scene('openai-agents-actions');
    const worker = await acting.spawn({ env: { DIES: what } });
    const handle = await acting.start('acts', {});
    await worker.ended;
    await acting.spawn();
    const answer = String(await handle.result());
    expect(acting.tally()[what]).toBe(1);
    const failed = (await handle.query(records)).filter(({ failure }) => failure);
    expect(failed).toMatchObject([{ failure: { name: 'UncertainStepError' } }]);
    return answer;
  };
  const [ran, created] = await Promise.all(['runs deploy', 'creates a.txt', 'clicks 1,2'].map(die));
  for (const answer of [ran, created]) expect(answer).toContain('may or may not have had its effect');
});

test('a command that needs approval is shown to a person, and runs once it is approved', async () => {
  await using acting = await scene('openai-agents-actions');
  const first = await acting.spawn();
  const handle = await acting.start('acts', { needsApproval: true });
  expect(await untilWaiting(handle, ['shell-1'])).toMatchObject([{ input: { commands: ['deploy'] } }]);
  expect(acting.tally()['runs deploy']).toBeUndefined();
  await first.kill();
  await acting.spawn();
  await handle.signal(approve, { id: 'shell-1' });
  expect(String(await handle.result())).toContain('ran deploy');
  expect(acting.tally()['runs deploy']).toBe(1);
});
