/** When an answer of a tool may be used again. */
import type { Duration } from '@temporalio/common';
import { DeclarationError } from '../errors/index.ts';
import { assertKnownOptions } from '../known-options.ts';
import { isDuration } from './retries-and-timeouts.ts';

/** How answers are shared between runs. */
export interface CacheOptions<Args = any> {
  /** How long an answer is good. @default for ever */
  ttl?: Duration;
  /** Change it when what the body calls changes its meaning: only the body itself is looked at. */
  version?: string;
  /**
   * What an answer depends on beside the arguments: who asks, a tenant, a language. Whoever may not see each other's
   * answers must differ in it. It may be a promise; `undefined` fails the call.
   */
  key?: (args: Args) => unknown;
}

/** `'auto'`: for all runs. `'run'`: within a run and those it goes on as. `'off'`: never. */
export type CacheRule<Args = any> = 'auto' | 'run' | 'off' | CacheOptions<Args>;

const OPTIONS = new Set<keyof CacheOptions>(['ttl', 'version', 'key']);

/** @throws DeclarationError for a rule that cannot be meant, or beside an approval */
export function assertCacheRule(
  name: string,
  rule: CacheRule | undefined,
  { requiresApproval, onUncertain = 'retry' }: { requiresApproval?: unknown; onUncertain?: string },
): void {
  if (rule === undefined || rule === 'off') return;
  const cannot = `Cannot declare tool ${name}`;
  if (typeof rule === 'object' && rule !== null) {
    assertKnownOptions(rule, OPTIONS, `${cannot}: in "cache"`);
    if (rule.ttl !== undefined && !isDuration(rule.ttl))
      throw new DeclarationError(`${cannot}: "cache.ttl" must be a duration such as '1 hour'.`);
  } else if (rule !== 'auto' && rule !== 'run') {
    throw new DeclarationError(`${cannot}: "cache" must be 'auto', 'run', 'off' or { ttl, version, key }.`);
  }
  if (requiresApproval || onUncertain !== 'retry') {
    throw new DeclarationError(
      `${cannot}: what needs a person's approval, or a rule for when its worker vanished, has an effect, and its answer cannot be used again. Leave out "cache".`,
    );
  }
}
