/** What the model says when there is no key: it notes what it is told, and reads its notes when it is asked for them. */
import type { ProviderAnswer, ProviderRequest } from 'temporal-agents/testing';

const NOTES = '/notes.md';
const LEARNT = '/memories/AGENTS.md';

export function scriptedResearcher({ instructions, messages }: ProviderRequest): ProviderAnswer {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const says = messages[asked]!.text;
  const results = messages.slice(asked).flatMap(({ toolResults }) => toolResults);
  const last = results.at(-1);
  if (!says.includes('?')) {
    if (!last) return call('write_file', { file_path: NOTES, content: says });
    if (results.length === 1)
      return call('write_file', { file_path: LEARNT, content: 'The reader is brief.' });
    return { text: 'Noted.' };
  }
  if (!last) return call('read_file', { file_path: NOTES });
  const [, note = 'I have no notes yet.'] = /@@\\n(.*?)"/.exec(last.text) ?? [];
  return { text: instructions.includes('The reader is brief.') ? `In short: ${note}` : note };
}

function call(name: string, args: Record<string, unknown>): ProviderAnswer {
  return { toolCalls: [{ name, arguments: args }] };
}
