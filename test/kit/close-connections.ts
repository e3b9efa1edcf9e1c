/** After each test file: whatever the kit connected is closed, so that the process ends by itself. */
import { afterAll } from '@jest/globals';

afterAll(async () => {
  // Files that never used the kit have not loaded these; loading them here costs such a file a third of a second.
  const [{ closeClient }, { closeConnection }] = await Promise.all([
    import('./temporal.ts'),
    import('./workers.ts'),
  ]);
  await closeConnection();
  await closeClient();
});
