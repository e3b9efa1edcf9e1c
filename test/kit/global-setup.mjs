import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { findServerBinary, startDevServer } from '../../src/servers/index.ts';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

/** One dev server, the test server's binary and one workflow bundle for all test files. */
export default async function globalSetup() {
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
  const [{ code }, server, testServer] = await Promise.all([
    bundleWorkflowCode({ workflowsPath: path('workflows/index.ts'), logger: quiet }),
    startDevServer(),
    findServerBinary('test'),
  ]);
  await mkdir(path('.cache'), { recursive: true });
  await writeFile(path('.cache/workflow-bundle.cjs'), code);
  globalThis.temporalDevServer = server;
  process.env.KIT_TEMPORAL_ADDRESS = server.address;
  process.env.KIT_TEST_SERVER = testServer;
}
