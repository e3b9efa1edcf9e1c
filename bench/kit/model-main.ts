/** The model of the benchmarks, in a process of its own: answers over HTTP what the task in its instructions asks for. */
import { startScriptedProvider } from 'temporal-agents/testing';
import { callOf, needsApproval, type Task } from './task.ts';

const provider = await startScriptedProvider(({ instructions, messages, body }) => {
  const task = JSON.parse(instructions) as Task;
  const i = messages.reduce((count, { toolResults }) => count + toolResults.length, 0);
  // Read already; kept, the requests of thousands of turns would fill the memory.
  (body as { input?: unknown }).input = undefined;
  const name = needsApproval(task, i) ? 'guarded' : 'lookup';
  return {
    ...(task.answerBytes > 0 && { text: 'x'.repeat(task.answerBytes) }),
    ...(task.turnMs !== undefined && { delayMs: task.turnMs }),
    ...(i < task.calls && { toolCalls: [{ name, arguments: { ...callOf(task, i) } }] }),
  };
});
process.on('message', () => process.send!(provider.count()));
process.on('disconnect', () => process.exit());
process.send!(provider.url);
