/** What of a call of a model makes two turns the same. */
import type { BaseMessage } from '@langchain/core/messages';
import { sorted } from '../comparable.ts';
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
export function modelName(model: Model, options: Options, params = paramsOf(model, options)): string {
  const name = params['model'] ?? model.model ?? model.modelName;
  return typeof name === 'string' && name !== '' ? name : model._llmType();
}

/** As the call tells the provider. */
export function maxOutputTokens(
  model: Model,
  options: Options,
  params = paramsOf(model, options),
): number | undefined {
  const names = ['max_output_tokens', 'max_completion_tokens', 'max_tokens', 'maxOutputTokens', 'maxTokens'];
  const { num_predict: predicted } = (params['options'] ?? {}) as { num_predict?: unknown };
  const most = [...names.map((name) => params[name]), predicted].find(
    (each) => typeof each === 'number' && each > 0,
  );
  return most as number | undefined;
}

/** What affects the answer. */
export function requestOfTurn(
  model: Model,
  messages: readonly BaseMessage[],
  options: Options,
  params = paramsOf(model, options),
): object {
  const { tools, ...settings } = params;
  return {
    model: modelName(model, options, params),
    provider: model._llmType(),
    instructions: messages.filter(isSystem).map(({ content }) => content),
    messages: comparableMessages(messages.filter((message) => !isSystem(message))),
    tools: Array.isArray(tools) ? sorted(tools, toolName) : tools,
    settings,
  };
}

/**
 * What the provider is told beside the messages; of a model that does not say it, the options of the call. A model makes all
 * its tools anew for it.
 */
export function paramsOf(model: Model, options: Options): Record<string, unknown> {
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

function toolName(tool: unknown): string {
  const { name, function: of } = tool as { name?: unknown; function?: { name?: unknown } };
  return String(name ?? of?.name);
}
