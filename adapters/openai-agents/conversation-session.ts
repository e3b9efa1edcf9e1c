import { AsyncLocalStorage } from 'node:async_hooks';
import type { AgentInputItem, Session } from '@openai/agents';
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { assertKnownOptions } from '../../src/known-options.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import type { Conversation } from '../../src/memory/conversation.ts';
import type { MemoryStore } from '../../src/memory/memory-store.ts';
import { memory } from '../../src/memory/run-memory.ts';
import { keptItems, type RunExchange } from './exchange.ts';
import { pairedItems } from './paired-items.ts';
import { currentSdkRun } from './sdk-run.ts';

/**
 * What a run of the SDK does while others use its conversation.
 *
 * - `append`: it goes on from what it read, and adds its exchange after whatever others added meanwhile.
 * - `fork`: if others added something meanwhile, its exchange goes into a new conversation, which begins with what it read.
 * - `reject`: if another run holds the conversation, it fails with `ConversationBusyError`.
 * - `queue`: it waits until no other run holds it.
 *
 * With `reject` and `queue` it holds the conversation itself, but not while it waits for a person.
 */
export type WhenBusy = 'append' | 'fork' | 'reject' | 'queue';

/** Which conversation it is, and what happens while others use it. */
export interface ConversationOptions {
  /** Which conversation of the key: 1 to 300 characters that a path may have. @default 'main' */
  conversation?: string;
  /** Inside a run; outside, each call of the SDK is written at once. @default 'append' */
  whenBusy?: WhenBusy;
  /** Told the id of the conversation in which a run goes on, once it was forked. Called again after a restart. */
  onFork?: (conversation: string) => void;
}

const OPTIONS = new Set(['conversation', 'whenBusy', 'onFork', 'store']);
const MODES: readonly WhenBusy[] = ['append', 'fork', 'reject', 'queue'];

/** The body of a step that uses a session which keeps its items in one of ours. */
const inBody = new AsyncLocalStorage<{ session: ConversationSession; exchange: RunExchange }>();
/** Where the runs of a loop went on, by conversation. */
const forks = perLoop(() => new Map<string, string>());

/**
 * A session of the SDK that outlives runs, over a conversation in memory: `run(agent, input, { session })`, also as the
 * `underlyingSession` of an `OpenAIResponsesCompactionSession`. Inside a run, each run of the SDK reads it once, and adds
 * one block when it ends. What the SDK gets from it never has a call without its result, or a result without its call.
 */
export class ConversationSession implements Session {
  readonly key: string;
  readonly whenBusy: WhenBusy;
  readonly #conversation: string;
  readonly #store: MemoryStore | undefined;
  readonly #onFork: ConversationOptions['onFork'];

  /**
   * @param key of memory: any text of 1 to 1,000 characters, such as a customer's id; runs of all agents share it
   * @param options `store`: where it is kept outside of runs; a run uses its worker's
   * @throws DeclarationError for an option that does not exist
   */
  constructor(key: string, options: ConversationOptions & { store?: MemoryStore } = {}) {
    assertKnownOptions(options, OPTIONS, 'Cannot keep a conversation');
    const { conversation = 'main', whenBusy = 'append', onFork, store } = options;
    if (!MODES.includes(whenBusy)) {
      throw new DeclarationError(
        `Cannot keep a conversation: "whenBusy" is ${JSON.stringify(whenBusy)}. Use ${MODES.join(', ')}.`,
      );
    }
    this.key = key;
    this.whenBusy = whenBusy;
    this.#conversation = conversation;
    this.#store = store;
    this.#onFork = onFork;
  }

  /** Which conversation of the key it is: the fork, once this run went on in one. */
  get conversation(): string {
    const { loop } = currentPosition() ?? {};
    const fork = loop && this.whenBusy === 'fork' && forks(loop).get(this.#named);
    return fork || this.#conversation;
  }

  async getSessionId(): Promise<string> {
    return `${this.key}/${this.conversation}`;
  }

  /** The newest items, oldest first. @param limit at most so many @default all */
  async getItems(limit = Infinity): Promise<AgentInputItem[]> {
    const exchange = this.#exchange();
    if (exchange) return await exchange.getItems(limit);
    const { items } = await this.#kept().read();
    return limit > 0 ? pairedItems(items, { open: true }).slice(-limit) : [];
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    const exchange = this.#exchange();
    if (exchange) await exchange.addItems(items);
    else if (items.length > 0) await this.#kept().append(keptItems(items));
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    const exchange = this.#exchange();
    return exchange ? await exchange.popItem() : await this.#kept().pop();
  }

  async clearSession(): Promise<void> {
    const exchange = this.#exchange();
    if (exchange) await exchange.replaceItems([]);
    else await this.#kept().clear();
  }

  /** Puts compacted items in the place of all that there are; what others add meanwhile stays. */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const exchange = this.#exchange();
    if (exchange) return await exchange.replaceItems(items);
    const kept = this.#kept();
    const { version } = await kept.read();
    await kept.replace(keptItems(items), version);
    return undefined;
  }

  /** The runs of this loop go on elsewhere. @internal */
  forked(loop: object, id: string): void {
    forks(loop).set(this.#named, id);
    this.#onFork?.(id);
  }

  get #named(): string {
    return JSON.stringify([this.key, this.#conversation]);
  }

  #exchange(): RunExchange | undefined {
    const body = inBody.getStore();
    if (body?.session === this) return body.exchange;
    const run = currentSdkRun();
    return run?.session === this ? run.exchange : undefined;
  }

  #kept(): Conversation<AgentInputItem> {
    if (currentPosition()) return memory(this.key).conversation(this.conversation);
    if (!this.#store) {
      throw new DeclarationError(
        'Cannot use this conversation outside a run: pass { store: new MemoryStore(blobs) }, with the blobs that the worker has.',
      );
    }
    if (this.whenBusy !== 'append') {
      throw new UnsupportedError(
        `Cannot use "whenBusy": ${JSON.stringify(this.whenBusy)} outside a run: nothing would tell that whoever holds the conversation is gone.`,
      );
    }
    return this.#store.getOrCreate(this.key).conversation(this.#conversation);
  }
}

/** Runs the body of a step in which a session is one exchange. */
export function withinBody<T>(session: ConversationSession, exchange: RunExchange, body: () => T): T {
  return inBody.run({ session, exchange }, body);
}
