/** A conversation as a user sees it: items that outlive runs, in the order in which they were added. Types only. */

/** What a conversation holds, as of one of its versions. */
export interface ConversationState<Item = unknown> {
  items: Item[];
  /** Number of the last write; 0 if there was none. */
  version: number;
}

/** Where something was written. */
export interface ConversationWrite {
  /** The conversation's id: that of a fork, if one was made. */
  id: string;
  /** Number of the write. */
  version: number;
}

/** When to go on in a conversation of one's own. */
export interface ConversationFork {
  /**
   * Of the version that was read: if anything was written since, the write goes into a new conversation, which begins
   * with what was read. Its id is in the answer.
   * @default the write goes after whatever was written since
   */
  orForkAt?: number;
}

/**
 * A list of JSON items under a key of memory, such as the messages, calls and results between a user and an agent. Each
 * write is one version, so the items of one write stay together, and none is lost. An item may have any size; all together
 * have as much as a process can bear.
 *
 * Inside a run each method is a step. Every method throws `BlobStoreError` if the store cannot be reached, and those that
 * write throw `DeclarationError` where nobody is known to write: give the `MemoryStore` an `actor`.
 */
export interface Conversation<Item = unknown> {
  readonly id: string;
  /** All items, and the version that has them. */
  read(): Promise<ConversationState<Item>>;
  /**
   * Adds items as one block. Without items nothing is written.
   * @throws NotRecordableError if JSON would change an item, naming the place
   */
  append(items: readonly Item[], options?: ConversationFork): Promise<ConversationWrite>;
  /** Takes the last item away, and gives it; `undefined` if there is none. */
  pop(): Promise<Item | undefined>;
  /** Takes all items away. What was there can still be read in the history of the path. */
  clear(): Promise<ConversationWrite>;
  /**
   * Puts other items in the place of all that the version had that was read; what was added since stays, after them.
   * @throws NotRecordableError if JSON would change an item, naming the place
   */
  replace(
    items: readonly Item[],
    readVersion: number,
    options?: { fork?: boolean },
  ): Promise<ConversationWrite>;
}
