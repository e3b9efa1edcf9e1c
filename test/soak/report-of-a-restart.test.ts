/** The same as the promise of that name, with tools as slow as real ones. */
import { test } from '@jest/globals';
import { restartIsReported } from '../kit/restart-is-reported.ts';

test('tools of 5.1 and 16.6 s are given again from their records after a kill, and not run again', async () => {
  await restartIsReported(5_100, 16_600);
}, 120_000);
