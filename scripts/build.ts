/** Compiles the package and builds the workflow bundle that it ships. */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const path = (relative: string) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

rmSync(path('dist'), { recursive: true, force: true });
execFileSync(process.execPath, [path('node_modules/typescript/bin/tsc'), '-p', path('tsconfig.build.json')], {
  stdio: 'inherit',
});
const { BUNDLE_MARK, installedVersion } = (await import(
  path('dist/src/worker/workflow-bundle.js')
)) as typeof import('../src/worker/workflow-bundle.ts');
const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
const { code } = await bundleWorkflowCode({ workflowsPath: path('dist/workflows/index.js'), logger: quiet });
writeFileSync(path('dist/workflow-bundle.cjs'), `${code}\n${BUNDLE_MARK}${installedVersion()}\n`);
if (!existsSync(path('dist/src/index.js'))) throw new Error('The build left no dist/src/index.js.');
