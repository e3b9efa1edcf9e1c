import type { ModelRequest } from '@openai/agents';
import { resultOf, shortText } from '../asked-text.ts';

/** The last item of the input: a person's text; of a tool's output `result of <tool>: …`; `undefined` for what has no text. */
export function askedOfTurn(input: ModelRequest['input']): string | undefined {
  if (typeof input === 'string') return shortText(input);
  const last = input.at(-1) as { type?: string; name?: string; content?: unknown; output?: unknown };
  return last?.output === undefined
    ? shortText(last?.content)
    : resultOf(last.name ?? last.type, last.output);
}
