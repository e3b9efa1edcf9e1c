// Runs as a process of its own: node sdk-download-process.ts <dev | test> <folder>
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir = '.'] = process.argv.slice(2);
const server = { executable: { type: 'cached-download', downloadDir, ttl: '365 days' } } as const;
try {
  const environment =
    kind === 'dev'
      ? await TestWorkflowEnvironment.createLocal({ server })
      : await TestWorkflowEnvironment.createTimeSkipping({ server });
  await environment.teardown();
} catch (error) {
  process.stderr.write((error as Error).message);
  process.exitCode = 1;
}
