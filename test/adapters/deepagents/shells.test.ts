/** A command is run once: whether one had its effect whose worker vanished, nobody knows, and the model is told so. */
import { expect, test } from '@jest/globals';
import { contractScene } from '../../contract/contract-scene.ts';
import { module, script } from './deep-agents.ts';

const { crash } = contractScene({ module }, script);

test.each([
  [
    'while it runs',
    'before',
    /^Error: The worker that ran LocalShellBackend.execute vanished: it may or may not/,
  ],
  ['after it ran', 'after', /^ran\n/],
] as const)('a command whose worker is killed %s', async (_, when, said) => {
  const { outcome, bodies, calls } = await crash({ step: 2, when }, 'shell');
  expect(outcome.result).toMatch(said);
  expect(bodies).toEqual({ 'runs case:X': 1 });
  expect(calls).toEqual([1, 1]);
});
