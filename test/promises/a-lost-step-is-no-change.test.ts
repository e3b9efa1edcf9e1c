import { expect, test } from '@jest/globals';
import { scene } from '../kit/scene.ts';
import { until } from '../kit/temporal.ts';

test('a branch whose turn was lost with its worker leaves the other branch as it was: nothing is read or paid again', async () => {
  let hang = true;
  await using stage = await scene('branching-agents', {
    script: ({ messages }) => {
      const { text } = messages.at(-1)!;
      return { text: `about ${text}`, ...(text === 'slow' && hang && { hang: true }) };
    },
  });
  const host = await stage.spawn();
  const handle = await stage.start('branches');
  await until(async () => {
    const records = await handle.query<{ kind: string }[]>('records');
    return records.length === 3;
  }, 'the quick branch is done');
  hang = false;
  await host.kill();
  await stage.spawn();
  await handle.result();
  expect(stage.tally()).toEqual({ 'read a page': 1 });
  expect(stage.provider.requests.map(({ body }) => body['input'])).toEqual([
    'slow',
    'quick',
    expect.stringMatching(/^about quick: a page at/),
    'slow',
  ]);
});
