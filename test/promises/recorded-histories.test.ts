import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { assertReplays, readHistory, recordedHistories } from '../kit/temporal.ts';

const files = readdirSync(recordedHistories).filter((file) => file.endsWith('.bin.gz'));

test('there are histories of earlier versions', () => expect(files.length).toBeGreaterThan(5));

// A run that is under way when a worker is deployed goes on with the new workflow code: a change that cannot follow
// these needs `patched`.
test.each(files)('the history %s still replays', async (file) => {
  await assertReplays([readHistory(new URL(file, recordedHistories))]);
});
