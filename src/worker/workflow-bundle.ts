/** Where the workflow code is that a worker runs: built ahead and shipped, so that a worker starts fast. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

type WorkflowSource = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

/**
 * The shipped bundle, if it was made with the SDK version that is installed here; else the path of the workflow module,
 * which the worker then bundles itself (1 to 2 s). There is none beside the sources.
 */
export function workflowSource(): WorkflowSource {
  const codePath = fileURLToPath(new URL(`../../${bundleName()}`, import.meta.url));
  if (existsSync(codePath)) return { workflowBundle: { codePath } };
  return { workflowsPath: fileURLToPath(import.meta.resolve('temporal-agents/workflows')) };
}

/** Name of the bundle for the SDK version that the worker here uses: the code and the SDK must be of one version. */
export function bundleName(): string {
  const require = createRequire(import.meta.resolve('@temporalio/worker'));
  const { version } = require('@temporalio/workflow/package.json') as { version: string };
  return `workflow-bundle-${version}.cjs`;
}
