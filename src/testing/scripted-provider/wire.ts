import { randomUUID } from 'node:crypto';
import type { ProviderAnswer, ProviderMessage, ProviderRequest, ProviderUsage } from './provider-script.ts';

/** What a request says, in whichever wire form. */
export type RequestContent = Pick<ProviderRequest, 'instructions' | 'messages' | 'tools'>;

/** One server-sent event. Text goes as it is, anything else as JSON. */
export interface Frame {
  event?: string;
  data: unknown;
}

/** How one API of a provider reads requests and writes answers. */
export interface Wire {
  read: (body: Body) => RequestContent;
  /** The whole answer in one. */
  whole: (answer: FullAnswer, body: Body) => unknown;
  /** The answer as a stream: what opens it, and what comes from the first token on. */
  stream: (answer: FullAnswer, body: Body) => { opening: Frame[]; rest: Frame[] };
}

/** What a model says, with all that a script may leave out. */
export interface FullAnswer {
  /** Undefined when there are only tool calls. */
  text: string | undefined;
  toolCalls: readonly ToolCall[];
  /** As the Responses API has them. */
  items: readonly Readonly<Record<string, unknown>>[];
  usage: Required<ProviderUsage>;
}

/** A call with its id, and with its arguments as JSON text. */
interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** Body of a request. What is in it was checked by nobody. */
export type Body = Readonly<Record<string, unknown>>;

/** An id like a provider's: a prefix that tells what it is for, and something that never comes twice. */
export function uniqueId(prefix: string): string {
  return `${prefix}${randomUUID().replaceAll('-', '')}`;
}

/**
 * Fills in what a script left out: ids, and as usage a quarter of the characters, which is about what providers count.
 */
export function completeAnswer(
  { text, toolCalls = [], items = [], usage }: ProviderAnswer,
  body: Body,
): FullAnswer {
  const calls = toolCalls.map(({ id = uniqueId('call_'), name, arguments: args }) => ({
    id,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  const written = [text ?? '', ...calls.map(({ name, arguments: args }) => name + args)].join('');
  return {
    text: text ?? (calls.length + items.length === 0 ? '' : undefined),
    toolCalls: calls,
    items,
    usage: {
      inputTokens: Math.ceil(JSON.stringify(body).length / 4),
      outputTokens: Math.ceil(written.length / 4),
      cachedTokens: 0,
      reasoningTokens: 0,
      ...usage,
    },
  };
}

/** Splits text into the tokens in which it is streamed: words, each with the space after it. */
export function tokensOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

/** The text of content that is a string, or a list of parts some of which have a text or a refusal. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') {
    return content;
  }
  return listOf(content)
    .map(({ text, refusal }) => [text, refusal].find((each) => typeof each === 'string') ?? '')
    .join('');
}

/** The objects of a list; none when it is no list. */
export function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'object' && entry !== null) : [];
}

/** Gives each result of a tool the name of the tool that was called. */
export function nameToolResults(messages: readonly ProviderMessage[]): ProviderMessage[] {
  const calls = messages.flatMap(({ toolCalls }) => toolCalls);
  const names = new Map(calls.map(({ id, name }) => [id, name]));
  return messages.map((message) => ({
    ...message,
    toolResults: message.toolResults.map((result) => ({ ...result, name: names.get(result.callId) ?? '' })),
  }));
}

/** One message with nothing in it but what is given. */
export function messageOf(role: unknown, parts: Partial<ProviderMessage>): ProviderMessage {
  const known = role === 'assistant' || role === 'tool' ? role : 'user';
  return { role: known, text: '', toolCalls: [], toolResults: [], ...parts };
}

/** Whether a message of this role tells the model what to be, rather than being said in the conversation. */
export function isInstruction(role: unknown): boolean {
  return role === 'system' || role === 'developer';
}
