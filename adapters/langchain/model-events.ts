/** A model's answer as the events of `streamEvents`: LangChain makes them of chunks, but leaves out what ends them. */
import type { ChatModelStreamEvent, FinishReason } from '@langchain/core/language_models/event';
import type { ChatGenerationChunk } from '@langchain/core/outputs';
import type { Model } from './turn-request.ts';

/** Why providers say that they ended, in LangChain's words; for all else, `stop`. */
const REASONS: Record<string, FinishReason> = {
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  tool_use: 'tool_use',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

/** Events of the one chunk that a model yields in a run, with why and how the provider ended. */
export async function* wholeAnswerEvents(
  model: Model,
  base: Model,
  args: unknown[],
): AsyncGenerator<ChatModelStreamEvent> {
  let whole: ChatGenerationChunk | undefined;
  const chunks = async function* (...asked: unknown[]) {
    for await (const chunk of model._streamResponseChunks(...asked) as AsyncIterable<ChatGenerationChunk>) {
      whole = chunk;
      yield chunk;
    }
  };
  const events = base._streamChatModelEvents.apply({ _streamResponseChunks: chunks }, args);
  for await (const event of events as AsyncIterable<ChatModelStreamEvent>)
    yield event.event === 'message-finish' && whole ? { ...event, ...endOf(whole) } : event;
}

function endOf({ generationInfo, message }: ChatGenerationChunk) {
  // Tokens used are in an event of their own.
  const { prompt: _prompt, completion: _completion, ...info } = generationInfo ?? {};
  const { usage: _usage, ...metadata } = message.response_metadata as Record<string, unknown>;
  const responseMetadata: Record<string, unknown> = { ...info, ...metadata };
  const { finish_reason: finished, stop_reason: stopped } = responseMetadata;
  return { reason: REASONS[String(finished ?? stopped)] ?? ('stop' as const), responseMetadata };
}
