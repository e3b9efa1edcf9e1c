/** Messages as they are recorded and given again, and what of them makes two requests the same. */
import { randomUUID } from 'node:crypto';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { without } from '../comparable.ts';
import { plainJson } from '../plain-json.ts';

/** A model's message as plain data. */
export type RecordedMessage = Record<string, unknown> & { chunk?: true };

const FIELDS = [
  'id',
  'name',
  'content',
  'tool_calls',
  'invalid_tool_calls',
  'usage_metadata',
  'response_metadata',
  'additional_kwargs',
] as const;
/** Blocks of a message's content that stand in its `tool_calls`, too. */
const CALLS = new Set(['tool_call', 'tool_use', 'tool_call_chunk', 'input_json_delta', 'function_call']);

/**
 * All that a model's message holds; its own `toJSON` leaves out what was set after it was made. LangChain would give it
 * another id in each loop if it had none.
 */
export function recordedMessage(message: BaseMessage): RecordedMessage {
  const own = message as unknown as Record<string, unknown>;
  const fields = Object.fromEntries(FIELDS.map((field) => [field, own[field]]));
  const id = message.id ?? `run-${randomUUID()}`;
  const chunk = AIMessageChunk.isInstance(message) && { chunk: true };
  return plainJson({ ...fields, id, ...chunk }) as RecordedMessage;
}

/** The message again, of the class it was. */
export function revivedMessage({ chunk, ...fields }: RecordedMessage): AIMessage | AIMessageChunk {
  return chunk ? messageChunk(fields) : new AIMessage(fields);
}

/** The message as the one chunk of a stream. */
export function messageChunk(recorded: RecordedMessage): AIMessageChunk {
  const {
    content,
    tool_calls: calls = [],
    invalid_tool_calls: invalid = [],
    ...rest
  } = without(recorded, 'chunk') as {
    content: unknown;
    tool_calls?: { name: string; args: unknown; id?: string }[];
    invalid_tool_calls?: { name?: string; args?: string; id?: string }[];
  };
  const chunks = [...calls, ...invalid].map(({ name, args, id }, index) => ({
    type: 'tool_call_chunk' as const,
    ...(name !== undefined && { name }),
    ...(id !== undefined && { id }),
    args: typeof args === 'string' ? args : JSON.stringify(args),
    index,
  }));
  return new AIMessageChunk({
    ...rest,
    content: withoutCalls(content) as string,
    tool_call_chunks: chunks,
  });
}

/** Messages without the ids that providers and LangChain mint; a result belongs to its call by the order of the calls. */
export function comparableMessages(messages: readonly BaseMessage[]): object[] {
  const numbers = new Map<unknown, number>();
  const number = (id: unknown) => {
    if (!numbers.has(id)) numbers.set(id, numbers.size);
    return numbers.get(id);
  };
  return messages.map((message) => {
    const { type, name, content } = message;
    const { tool_calls, tool_call_id, status } = message as unknown as {
      tool_calls?: { id?: string; name: string; args: unknown }[];
      tool_call_id?: string;
      status?: string;
    };
    return {
      type,
      name,
      content: type === 'ai' ? comparableContent(content) : content,
      calls: tool_calls?.map((call) => ({ name: call.name, args: call.args, call: number(call.id) })),
      ...(tool_call_id !== undefined && { call: number(tool_call_id) }),
      status: status === 'success' ? undefined : status,
    };
  });
}

/** What a model said, the same whether it came in pieces or not. */
function comparableContent(content: BaseMessage['content']): unknown {
  const blocks = withoutCalls(content);
  if (!Array.isArray(blocks)) return blocks;
  const own = blocks.map((block: object) => without(block, 'id', 'index'));
  const isText = own.every((block) => block['type'] === 'text');
  return isText ? own.map((block) => block['text']).join('') : own;
}

/** Calls are in a field of their own, too. */
function withoutCalls(content: unknown): unknown {
  return Array.isArray(content)
    ? (content as Record<string, unknown>[]).filter((block) => !CALLS.has(String(block['type'])))
    : content;
}
