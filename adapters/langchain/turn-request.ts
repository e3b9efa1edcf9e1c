/** What of a call of a model makes two turns the same. */
import type { BaseMessage } from '@langchain/core/messages';
import { comparableMessages } from './messages.ts';

/** What LangChain's chat models have, as far as a turn must know it. */
export interface Model {
  caller: object;
  model?: unknown;
  modelName?: unknown;
  _llmType(): string;
  invocationParams?(options: Options): unknown;
  _streamResponseChunks(...args: any[]): unknown;
  _streamChatModelEvents(...args: any[]): unknown;
}
/** Options of a call. */
export type Options = Record<string, unknown> & { signal?: AbortSignal };

/** They say how and where a call is made, not what is asked. */
const VOLATILE = new Set([
  'writer',
  'interrupt',
  'control',
  'executionInfo',
  'serverInfo',
  'heartbeat',
  'signal',
  'promptIndex',
  'callbacks',
  'runId',
  'runName',
  'config',
  'configurable',
  'metadata',
  'tags',
  'store',
  'context',
  'recursionLimit',
  'maxConcurrency',
  'maxRetries',
  'timeout',
  'options',
  'streamMode',
  'durability',
  'previous',
  'toolCallId',
  'state',
  'stream',
  'stream_options',
  'streaming',
  'ls_structured_output_format',
]);

/** Of what the provider is told, what says no more than how it is to answer. */
const OF_TRANSPORT = new Set(['stream', 'stream_options', 'streaming', 'signal', 'timeout', 'metadata']);

/** The model's name as its provider has it. */
export function modelName(model: Model, options: Options): string {
  const name = paramsOf(model, options)['model'] ?? model.model ?? model.modelName;
  return typeof name === 'string' && name !== '' ? name : model._llmType();
}

/** As the call tells the provider. */
export function maxOutputTokens(model: Model, options: Options): number | undefined {
  const params = paramsOf(model, options);
  const names = ['max_output_tokens', 'max_completion_tokens', 'max_tokens', 'maxOutputTokens', 'maxTokens'];
  const { num_predict: predicted } = (params['options'] ?? {}) as { num_predict?: unknown };
  const most = [...names.map((name) => params[name]), predicted].find(
    (each) => typeof each === 'number' && each > 0,
  );
  return most as number | undefined;
}

/** What affects the answer. */
export function requestOfTurn(model: Model, messages: readonly BaseMessage[], options: Options): object {
  const { tools, ...settings } = paramsOf(model, options);
  return {
    model: modelName(model, options),
    provider: model._llmType(),
    instructions: messages.filter(isSystem).map(({ content }) => content),
    messages: comparableMessages(messages.filter((message) => !isSystem(message))),
    tools: Array.isArray(tools) ? sortedTools(tools) : tools,
    settings,
  };
}

/** What the provider is told beside the messages; of a model that does not say it, the options of the call. */
function paramsOf(model: Model, options: Options): Record<string, unknown> {
  return { ...without(VOLATILE, options), ...without(OF_TRANSPORT, model.invocationParams?.(options)) };
}

function without(names: ReadonlySet<string>, of: unknown): Record<string, unknown> {
  const entries = Object.entries((of ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    entries.filter(([name, value]) => !names.has(name) && value !== undefined && typeof value !== 'function'),
  );
}

function isSystem(message: BaseMessage): boolean {
  return message.type === 'system';
}

function sortedTools(tools: readonly unknown[]): unknown[] {
  const named = tools.map((tool) => [toolName(tool), tool] as const);
  return named.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))).map(([, tool]) => tool);
}

function toolName(tool: unknown): string {
  const { name, function: of } = tool as { name?: unknown; function?: { name?: unknown } };
  return String(name ?? of?.name);
}
