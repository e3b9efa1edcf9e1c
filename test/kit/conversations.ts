/** What is in a conversation, in words: who said what, which tool was called, what it answered. */
import type { AgentInputItem } from '@openai/agents';
import { FileStore, MemoryStore, type MemoryStoreOptions } from '../../src/index.ts';

/** A conversation in a store, seen from outside of runs. */
export function conversationIn(root: string, key: string, id?: string, options: MemoryStoreOptions = {}) {
  const store = new MemoryStore(new FileStore(root), { actor: 'test', ...options });
  return store.getOrCreate(key).conversation<AgentInputItem>(id);
}

export async function wordsOf(conversation: { read(): Promise<{ items: AgentInputItem[] }> }) {
  return (await conversation.read()).items.map(words);
}

interface AnyItem {
  type?: string;
  role?: string;
  content?: unknown;
  name?: string;
  arguments?: string;
  output?: unknown;
}

function words(item: AgentInputItem): string {
  const { type = 'message', role, content, name, arguments: args, output } = item as AnyItem;
  if (type === 'message') return `${role}: ${textOf(content)}`;
  return `${type} ${name}: ${args ?? textOf(output)}`;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = [content].flat() as { text?: string; type?: string }[];
  return parts.map(({ text, type }) => text ?? type).join(' ');
}

/** One exchange of the agent `chat`, as it is in the conversation. */
export function exchange(says: string, heard: string[]): string[] {
  const look = (n: number) => [
    `function_call look: ${JSON.stringify({ what: `${says} ${n}` })}`,
    `function_call_result look: found ${says} ${n}`,
  ];
  return [`user: ${says}`, ...look(1), ...look(2), `assistant: heard: ${heard.join()}`];
}
