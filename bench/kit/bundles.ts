/** What must be there before the first worker: the official plugin, and the bundles that are built ahead. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const run = promisify(execFile);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Files of the workflow bundles; temporal-agents brings its own. */
export const bundles = {
  bare: path('../../.cache/bench/bare.cjs'),
  agents: undefined,
  official: path('../../.cache/bench/official.cjs'),
};

/** Installs the official plugin in its folder, if it is not there, and builds the bundles. */
export async function prepare(): Promise<void> {
  const folder = path('../official');
  if (!existsSync(`${folder}/node_modules/.package-lock.json`)) {
    process.stderr.write(`npm ci --prefix ${folder}\n`);
    await run('npm', ['ci', '--prefix', folder]);
  }
  mkdirSync(path('../../.cache/bench'), { recursive: true });
  await run(process.execPath, [path('../official/bundle.ts'), bundles.official]);
  const { code } = await bundleWorkflowCode({
    workflowsPath: path('../bare-workflow.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  writeFileSync(bundles.bare, code);
}
