/** Builds the workflow bundle of the official plugin ahead, as its README says: node bundle.ts <file> */
import { writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { OpenAIProvider } from '@openai/agents-openai';
import { OpenAIAgentsPlugin } from '@temporalio/openai-agents';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { webpackConfigHook } from './eager-imports.ts';

const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./workflow.ts', import.meta.url)),
  webpackConfigHook,
  plugins: [new OpenAIAgentsPlugin({ modelProvider: new OpenAIProvider({ apiKey: 'none' }) })],
  logger: new DefaultLogger('ERROR'),
});
writeFileSync(String(argv[2]), code);
