/** What stands in brackets behind counts of tokens, or nothing. */
import type { Usage } from '../protocol/usage.ts';
import { count } from './numbers.ts';

/** Behind those in: how many the provider's cache gave and took. */
export function cacheWords({ cacheRead, cacheWrite }: Usage): string {
  const parts = [
    cacheRead ? `${count(cacheRead)} from the provider's cache` : [],
    cacheWrite ? `${count(cacheWrite)} into it` : [],
  ].flat();
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

/** Behind those out. */
export function reasoningWords({ reasoning }: Usage): string {
  return reasoning ? ` (${count(reasoning)} reasoning)` : '';
}
