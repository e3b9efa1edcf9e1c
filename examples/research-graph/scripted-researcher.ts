/** What the model says when there is no key: the same plan each time, and the first words of what was found. */
import type { ProviderAnswer, ProviderRequest } from 'temporal-agents/testing';

const QUESTIONS = ['What is a budget?', 'What is memory?', 'Who approves?'];

export function scriptedResearcher({ instructions, messages }: ProviderRequest): ProviderAnswer {
  const [first = '', ...rest] = messages.at(-1)!.text.split('\n');
  if (instructions.startsWith('Plan')) return { text: JSON.stringify({ questions: QUESTIONS }) };
  if (instructions.startsWith('Answer')) return { text: `${first} See "${rest[0]?.replace(/^#+ /, '')}".` };
  return { text: `${first}: ${rest.join(' ')}` };
}
