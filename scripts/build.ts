/** Compiles the package and builds the workflow bundle that it ships. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const path = (relative: string) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

rmSync(path('dist'), { recursive: true, force: true });
const tsc = [path('node_modules/typescript/bin/tsc'), '-p', path('tsconfig.build.json')];
execFileSync(process.execPath, tsc, { stdio: 'inherit' });
const { bundleName } = (await import(
  path('dist/src/worker/workflow-bundle.js')
)) as typeof import('../src/worker/workflow-bundle.ts');
const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
const { code } = await bundleWorkflowCode({ workflowsPath: path('dist/workflows/index.js'), logger: quiet });
writeFileSync(path(`dist/${bundleName()}`), code);
