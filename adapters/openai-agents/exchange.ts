/** One run of the SDK in a conversation: it reads once, and what it adds is written as one block when it ends. */
import type { AgentInputItem } from '@openai/agents';
import { nonCancellable } from '../../src/loop/current-loop.ts';
import type { Conversation } from '../../src/memory/conversation.ts';
import { plainJson } from '../plain-json.ts';
import { pairedItems } from './paired-items.ts';

export interface ExchangeOptions {
  /** Calls without a result are of a run that goes on now. */
  open: boolean;
  /** Goes on in a conversation of its own if anything was written since it read. */
  fork?: boolean;
  /** It was written there instead. */
  onFork?: (id: string) => void;
}

/** What a run of the SDK has of its conversation. */
export type RunExchange = Pick<Exchange, 'getItems' | 'addItems' | 'popItem' | 'replaceItems' | 'end'>;

/** Items as they are kept: bytes are base64, and half a character, where a tool cut its text, is a sign for that. */
export function keptItems(items: readonly AgentInputItem[]): AgentInputItem[] {
  const text = JSON.stringify(plainJson(items));
  return JSON.parse(text, (_field, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  ) as AgentInputItem[];
}

export class Exchange {
  readonly #conversation: Conversation<AgentInputItem>;
  readonly #options: ExchangeOptions;
  #read: Promise<number> | undefined;
  #items: AgentInputItem[] = [];
  #added: AgentInputItem[] = [];
  /** Something that was read is to be there no more. */
  #replaced = false;
  #ended: Promise<void> | undefined;

  constructor(conversation: Conversation<AgentInputItem>, options: ExchangeOptions) {
    this.#conversation = conversation;
    this.#options = options;
  }

  async getItems(limit = Infinity): Promise<AgentInputItem[]> {
    await this.#version();
    return structuredClone(limit > 0 ? this.#items.slice(-limit) : []);
  }

  async addItems(items: readonly AgentInputItem[]): Promise<void> {
    await this.#version();
    const plain = keptItems(items);
    this.#items.push(...plain);
    this.#added.push(...plain);
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    await this.#version();
    if (this.#items.length > 0 && this.#added.pop() === undefined) this.#replaced = true;
    return this.#items.pop();
  }

  async replaceItems(items: readonly AgentInputItem[]): Promise<void> {
    await this.#version();
    this.#items = keptItems(items);
    this.#added = [];
    this.#replaced = true;
  }

  /** Writes what was added; also of a run that was cancelled. May be called more than once. */
  async end(): Promise<void> {
    this.#ended ??= nonCancellable(async () => await this.#write());
    await this.#ended;
  }

  async #version(): Promise<number> {
    this.#read ??= this.#conversation.read().then(({ items, version }) => {
      this.#items = pairedItems(items, this.#options);
      return version;
    });
    return await this.#read;
  }

  async #write(): Promise<void> {
    if (!this.#replaced && this.#added.length === 0) return;
    const { fork = false, onFork } = this.#options;
    const version = await this.#version();
    const { id } = this.#replaced
      ? await this.#conversation.replace(this.#items, version, { fork })
      : await this.#conversation.append(this.#added, fork ? { orForkAt: version } : {});
    if (id !== this.#conversation.id) onFork?.(id);
  }
}
