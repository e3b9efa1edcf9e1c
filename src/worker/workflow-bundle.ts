/** Where the workflow code is that a worker runs: built ahead and shipped, so that a worker starts fast. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

type WorkflowSource = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

/** Built by `npm run build` beside the compiled code; there is none beside the sources. */
const BUNDLE = fileURLToPath(new URL('../../workflow-bundle.cjs', import.meta.url));

/**
 * The shipped bundle, if it was made with the SDK version that is installed here; else the path of the workflow module,
 * which the worker then bundles itself (1 to 2 s).
 */
export function workflowSource(): WorkflowSource {
  if (existsSync(BUNDLE) && bundledWith(BUNDLE) === installedVersion()) return { workflowBundle: { codePath: BUNDLE } };
  return { workflowsPath: fileURLToPath(import.meta.resolve('temporal-agents/workflows')) };
}

/** The bundle's last line says with which SDK it was made. */
export const BUNDLE_MARK = '// @temporalio/workflow ';

function bundledWith(path: string): string | undefined {
  const text = readFileSync(path, 'utf8');
  const at = text.lastIndexOf(BUNDLE_MARK);
  return at < 0 ? undefined : text.slice(at + BUNDLE_MARK.length).trim();
}

/** Version of the SDK's workflow library that the worker here uses. */
export function installedVersion(): string {
  const require = createRequire(import.meta.resolve('@temporalio/worker'));
  return (require('@temporalio/workflow/package.json') as { version: string }).version;
}
