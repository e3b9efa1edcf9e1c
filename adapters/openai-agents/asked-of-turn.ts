/** What a model is asked in a turn, in a few words: the last item of its input, for whoever reads the run's report. */
import type { ModelRequest } from '@openai/agents';

/** As much of a text as is looked at, in characters; the loop cuts it further. */
const LOOKED_AT = 500;

/** A person's text; of a tool's output `result of <tool>: …`; `undefined` for what has no text. */
export function askedOfTurn(input: ModelRequest['input']): string | undefined {
  if (typeof input === 'string') return input.slice(0, LOOKED_AT);
  const last = input.at(-1) as { type?: string; name?: string; content?: unknown; output?: unknown };
  if (last?.output === undefined) return textOf(last?.content);
  const text = textOf(last.output) ?? '';
  return `result of ${last.name ?? last.type ?? 'a call'}: ${text}`;
}

/** A text, or the first of the parts that have one. Never all of it as JSON: it may be megabytes of an image. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content.slice(0, LOOKED_AT);
  const parts = (Array.isArray(content) ? content : [content]) as ({ text?: unknown } | undefined)[];
  const part = parts.find((each) => typeof each?.text === 'string') as { text: string } | undefined;
  return part?.text.slice(0, LOOKED_AT);
}
