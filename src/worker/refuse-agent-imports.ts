import type { BundleOptions } from '@temporalio/worker';

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** Entry points that only work in ordinary Node. */
const OUTSIDE = /^temporal-agents(?!\/workflows$)(\/.*)?$/;

/** Makes bundling fail, with a message that says what to do, where workflow code imports an agent's module. */
export function refuseAgentImports(config: WebpackConfig): WebpackConfig {
  const { externals = [] } = config;
  return { ...config, externals: [refuse, ...(Array.isArray(externals) ? externals : [externals])] };
}

async function refuse({ request, context }: { request?: string; context?: string }): Promise<undefined> {
  if (request !== undefined && OUTSIDE.test(request)) {
    throw new Error(
      `Cannot bundle ${context ?? 'this module'} as workflow code: it imports "${request}", and agents run outside the workflow sandbox. Name the agent by string with its type: import type { support } from './agents'; executeChild<typeof support>('support', { args: [input] }). Signals and queries are in "temporal-agents/workflows".`,
    );
  }
}
