/** What the model says when there is no key: it repeats what it was told before. */
import type { ProviderAnswer, ProviderRequest } from 'temporal-agents/testing';

export function scriptedClerk({ messages }: ProviderRequest): ProviderAnswer {
  const told = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  if (told.length === 1) return { text: 'Nice to meet you. I will remember that.' };
  return { text: `Welcome back. You told me before: ${told.slice(0, -1).join(' ')}` };
}
