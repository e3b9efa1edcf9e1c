import type {
  TestWorkflowEnvironment,
  TimeSkippingTestWorkflowEnvironmentOptions,
} from '@temporalio/testing';
import { findServerBinary, type FindServerOptions } from '../servers/find-server-binary.ts';

/** How to run a test environment: how its server is found, and what Temporal's own class takes. */
export type TestEnvironmentOptions = FindServerOptions &
  Pick<TimeSkippingTestWorkflowEnvironmentOptions, 'client' | 'plugins'>;

/**
 * Temporal's `TestWorkflowEnvironment` with a server that skips time, found, or fetched, as all servers of this package
 * are. Time is skipped while a result is awaited and in `environment.sleep('30 days')`; it is one for all runs of the
 * environment, so have one environment a test file. Needs `@temporalio/testing`. End it with `teardown()`.
 *
 * @throws {ServerNotFoundError} when there is no server and none can be had
 */
export async function createTestEnvironment(
  options: TestEnvironmentOptions = {},
): Promise<TestWorkflowEnvironment> {
  const { client, plugins } = options;
  const path = await findServerBinary('test', options);
  const testing = await import('@temporalio/testing');
  return await testing.TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
    ...(client && { client }),
    ...(plugins && { plugins }),
  });
}
