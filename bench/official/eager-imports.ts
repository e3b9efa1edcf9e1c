/**
 * Has the bundler put what is imported dynamically into the one file that a workflow bundle is. Without it the bundle of
 * an ESM project with @openai/agents-core 0.11 fails as it loads: "Automatic publicPath is not supported".
 */
import type { BundleOptions } from '@temporalio/worker';

export const webpackConfigHook: NonNullable<BundleOptions['webpackConfigHook']> = (config) => ({
  ...config,
  module: { ...config.module, parser: { javascript: { dynamicImportMode: 'eager' } } },
});
