/** For the process that runs agents or serves their tools. */
export { AgentsPlugin, type AgentsPluginOptions } from './agents-plugin.ts';
