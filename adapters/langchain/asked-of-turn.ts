/** What a model is asked in a turn, in a few words: its last message, for whoever reads the run's report. */
import type { BaseMessage } from '@langchain/core/messages';

/** As much of a text as is looked at, in characters; the loop cuts it further. */
const LOOKED_AT = 500;

/** A person's text; of a tool's output `result of <tool>: …`; `undefined` for what has no text. */
export function askedOfTurn(messages: readonly BaseMessage[]): string | undefined {
  const last = messages.at(-1);
  if (!last) return undefined;
  const text = textOf(last.content);
  return last.type === 'tool' ? `result of ${last.name ?? 'a call'}: ${text ?? ''}` : text;
}

/** A text, or the first of the parts that have one. Never all of it as JSON: it may be megabytes of an image. */
function textOf(content: BaseMessage['content']): string | undefined {
  if (typeof content === 'string') return content.slice(0, LOOKED_AT);
  const part = content.find((each) => typeof each['text'] === 'string') as { text: string } | undefined;
  return part?.text.slice(0, LOOKED_AT);
}
