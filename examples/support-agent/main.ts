/**
 * A customer asks for a refund, LangChain's middleware has you look at it, and you decide: here, or in Temporal's UI.
 * `npm run support-agent -- 'My grinder, order A-18, never came.'`, with `--yes` to approve by itself.
 */
import { approve, reject } from 'temporal-agents';
import { decideUntilDone, onStage, prompt, say } from '../stage.ts';
import { support } from './agents.ts';
import { scriptedSupport } from './scripted-support.ts';

const question =
  process.argv.slice(2).find((word) => !word.startsWith('--')) ??
  'My espresso machine, order A-17, does not heat. I would like my money back.';

await onStage({ agents: [support], script: scriptedSupport }, async ({ client, taskQueue }) => {
  say('Customer', question);
  const workflowId = `support-${Date.now()}`;
  const handle = await client.workflow.start(support, { taskQueue, workflowId, args: [question] });
  say('Run', workflowId);
  const said = await decideUntilDone<string>(handle, async (pending) => {
    const { id } = pending;
    if (!('name' in pending)) return;
    say('Waits', `${pending.name} ${JSON.stringify(pending.input)}`);
    const decision = await prompt('y approves, n rejects, a number refunds so many dollars:', 'y');
    const usd = Number(decision);
    if (decision === 'y') await handle.signal(approve, { id });
    else if (usd > 0) await handle.signal(approve, { id, arguments: { ...(pending.input as object), usd } });
    else await handle.signal(reject, { id, reason: 'The shop says no.' });
  });
  say('Agent', said);
});
process.exit(0);
