import type { BaseMessage } from '@langchain/core/messages';
import { resultOf, shortText } from '../asked-text.ts';

/** The last message: a person's text; of a tool's output `result of <tool>: …`; `undefined` for what has no text. */
export function askedOfTurn(messages: readonly BaseMessage[]): string | undefined {
  const last = messages.at(-1);
  return last?.type === 'tool' ? resultOf(last.name, last.content) : shortText(last?.content);
}
