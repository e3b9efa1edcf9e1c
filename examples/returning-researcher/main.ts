/**
 * One visit of a reader to the researcher. Each time it is run it is another process, with a worker and a run of its own;
 * the deep agent's files and what was said come back. `npm run returning-researcher -- 'What did we find?'`
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { FileStore } from 'temporal-agents';
import { onStage, say } from '../stage.ts';
import { researcher } from './agents.ts';
import { scriptedResearcher } from './scripted-researcher.ts';

const reader = process.env['READER'] ?? 'ann';
const topic = process.env['TOPIC'] ?? 'bees';
const folder =
  process.env['RESEARCH_MEMORY'] ??
  join(homedir(), '.local', 'share', 'temporal-agents', 'returning-researcher');
const says = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? 'Bees see ultraviolet light.';

await onStage(
  { agents: [researcher], script: scriptedResearcher, blobs: new FileStore(folder) },
  async ({ client, taskQueue }) => {
    say('Reader', says);
    const workflowId = `${reader}-${Date.now()}`;
    const args: [Parameters<typeof researcher>[0]] = [{ reader, topic, says }];
    say('Researcher', await client.workflow.execute(researcher, { taskQueue, workflowId, args }));
  },
);
process.exit(0);
