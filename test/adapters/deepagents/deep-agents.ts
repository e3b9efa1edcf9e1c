/** The deep agents of `test/fixtures/deep-agents.ts`, and what the model says to them. */
import type { WorkflowHandle } from '@temporalio/client';
import { approve, waiting } from '../../../src/index.ts';
import type { ProviderAnswer, ProviderRequest } from '../../../src/testing/index.ts';
import { client, until } from '../../kit/temporal.ts';

export const module = new URL('../../fixtures/deep-agents.ts', import.meta.url).href;

/** As `contractScript` does, it says the same to the same; but each pick is another one. */
export function script({ instructions, messages, key, attempt }: ProviderRequest): ProviderAnswer {
  const [, id = 'none'] = /case:([\w-]+)/.exec(JSON.stringify(messages)) ?? [];
  const done = messages.flatMap(({ toolResults }) => toolResults);
  const last = done.at(-1);
  const call = (...calls: [string, Record<string, unknown>][]): ProviderAnswer => ({
    toolCalls: calls.map(([name, args]) => ({ name, arguments: args })),
  });
  const say = (text: string): ProviderAnswer => ({ text });
  const task = (subagent_type: string): [string, Record<string, unknown>] => [
    'task',
    { description: `Help with case:${id}`, subagent_type },
  ];
  const said = done.map(({ text }) => text).join(' | ');

  if (instructions.startsWith('TWINS')) return last ? say(said) : call(task('picker'), task('picker'));
  if (instructions.startsWith('PICKER'))
    return last ? say(last.text) : call(['pick', { what: `${attempt} case:${id}` }]);
  if (instructions.startsWith('DESK'))
    return last ? say(said) : call(['confirm', { what: `Sure case:${id}` }], task('helper'));
  if (instructions.startsWith('HELPER'))
    return last ? say(`helped: ${last.text}`) : call(['charge', { what: `7 case:${id}` }]);
  if (instructions.startsWith('SHELL'))
    return last
      ? say(said)
      : call(['execute', { command: `echo "1 1 runs case:${id}" >> "$EFFECTS"; echo ran` }]);
  if (instructions.startsWith('SHARED')) {
    if (!last) return call(['pick', { what: `it case:${id}` }]);
    if (last.name === 'pick') return call(['charge', { what: `1 case:${id}` }]);
    return say(/session_\w+/.exec(JSON.stringify(messages))![0]);
  }
  if (!instructions.startsWith('EVERYTHING')) return say(`A summary of case:${id}, by ${key.length}.`);
  switch (last?.name) {
    case undefined:
      return call([
        'edit_file',
        { file_path: '/memories/AGENTS.md', old_string: 'old fact', new_string: 'old fact, and a new one' },
      ]);
    case 'edit_file':
      return call(['charge', { what: `1 case:${id}` }]);
    case 'charge':
      return call(['big', { what: `much case:${id}` }]);
    case 'big':
      return call(task('helper'), task('helper'));
    case 'task':
      return call(['read_file', { file_path: '/memories/AGENTS.md' }]);
    default:
      return say(said);
  }
}

/** Approves whatever the run asks until it is over. */
export async function approveAll(handle: WorkflowHandle): Promise<void> {
  const done = new Set<string>();
  await until(async () => {
    if ((await handle.describe()).status.name !== 'RUNNING') return true;
    const query = async () => await handle.query(waiting);
    const { approvals } = await (
      await client()
    )
      .withDeadline(Date.now() + 5_000, query)
      .catch(() => ({ approvals: [] }));
    for (const { id } of approvals) {
      if (!done.has(id)) await handle.signal(approve, { id });
      done.add(id);
    }
    return false;
  }, `${handle.workflowId} is over`);
}
