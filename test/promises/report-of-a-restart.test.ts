/** What the report says of a run whose worker was killed. */
import { test } from '@jest/globals';
import { restartIsReported } from '../kit/restart-is-reported.ts';

test('two turns and two tools are given again from their records: none is paid twice, and each has the time it took', async () => {
  await restartIsReported(500, 1_600);
});
