/**
 * A graph researches the documentation of this repository, and you edit its report: here, or in Temporal's UI by the signal
 * `answer`. `npm run research-graph -- 'How do people decide?'`, with `--yes` to take the draft as it is.
 */
import { answer } from 'temporal-agents';
import { decideUntilDone, onStage, prompt, say } from '../stage.ts';
import { researcher } from './agents.ts';
import { scriptedResearcher } from './scripted-researcher.ts';

const topic =
  process.argv.slice(2).find((word) => !word.startsWith('--')) ?? 'How an agent is kept within bounds';

await onStage({ agents: [researcher], script: scriptedResearcher }, async ({ client, taskQueue }) => {
  say('Topic', topic);
  const workflowId = `research-${Date.now()}`;
  const handle = await client.workflow.start(researcher, { taskQueue, workflowId, args: [topic] });
  say('Run', workflowId);
  const report = await decideUntilDone<string>(handle, async ({ id, input }) => {
    const { report: draft } = input as { report: string };
    say('Draft', draft);
    const edited = await prompt('Final text (Enter takes the draft):', '');
    await handle.signal(answer, { id, value: edited === '' ? draft : edited });
  });
  say('Report', report);
});
process.exit(0);
