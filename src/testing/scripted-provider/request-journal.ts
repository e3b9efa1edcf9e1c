import type { ProviderApi } from './provider-script.ts';

/** One request to the provider and what became of it. Times are milliseconds since 1970. */
export interface JournalEntry {
  /** When it had arrived. */
  readonly at: number;
  readonly api: ProviderApi;
  /** SHA-256 of the canonical JSON of the body. */
  readonly key: string;
  /** How many requests with this key there had been, this one included. */
  readonly attempt: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** HTTP status of the answer, once it was sent. */
  readonly status?: number;
  /** When the last of the answer was sent. */
  readonly answeredAt?: number;
  /** When the client closed its connection, where it did so before it had the answer. */
  readonly closedEarlyAt?: number;
  /** When we reset the connection, where the script said so. */
  readonly resetAt?: number;
}

/** Keeps what was asked and lets tests wait for it. */
export class RequestJournal {
  readonly entries: JournalEntry[] = [];
  readonly #watchers = new Set<() => void>();

  add(entry: JournalEntry): JournalEntry {
    this.entries.push(entry);
    this.#notify();
    return entry;
  }

  change(entry: JournalEntry, changes: Partial<JournalEntry>): void {
    Object.assign(entry, changes);
    this.#notify();
  }

  count(predicate: (entry: JournalEntry) => boolean = () => true): number {
    return this.entries.filter((entry) => predicate(entry)).length;
  }

  /** Resolves with the first entry that fits, now or once one does. */
  waitFor(predicate: (entry: JournalEntry) => boolean): Promise<JournalEntry> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.entries.find((entry) => predicate(entry));
        if (found !== undefined) {
          this.#watchers.delete(look);
          resolve(found);
        }
      };
      this.#watchers.add(look);
      look();
    });
  }

  #notify(): void {
    for (const look of this.#watchers) {
      look();
    }
  }
}
