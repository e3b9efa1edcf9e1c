import { type Fingerprinted, fingerprint } from './fingerprint.ts';

/** The keys of what a loop has asked, and in which scope each was. */
export class Keys {
  readonly #occurrences = new Map<string, number>();
  /** Keys of what was asked in each scope, and of the scopes in it. */
  readonly #within = new Map<string, Set<string>>();

  /** The key of a request: its fingerprint, and its occurrence among equal ones in the same scope. */
  next(step: Fingerprinted): string {
    const print = fingerprint(step);
    const occurrence = (this.#occurrences.get(print) ?? 0) + 1;
    this.#occurrences.set(print, occurrence);
    const key = occurrence === 1 ? print : `${print}.${occurrence}`;
    this.note(step.scope, key);
    return key;
  }

  /** The key of a request that is the first of its kind; `undefined`: there was one before. */
  first(step: Fingerprinted): string | undefined {
    const print = fingerprint(step);
    return this.#occurrences.has(print) ? undefined : print;
  }

  /** Notes what was asked in a scope, which may have parts that are named after a slash. */
  note(scope: string, key: string): void {
    const [whole] = scope.split('/') as [string];
    if (whole !== '') this.#within.set(whole, (this.#within.get(whole) ?? new Set()).add(key));
  }

  /** All that was asked in a scope, and in scopes within it. */
  within(scope: string): string[] {
    return [...(this.#within.get(scope) ?? [])].flatMap((key) => [key, ...this.within(key)]);
  }
}
