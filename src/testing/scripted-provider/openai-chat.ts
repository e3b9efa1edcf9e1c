import type { ProviderMessage } from './provider-script.ts';
import {
  contentText,
  isInstruction,
  listOf,
  messageOf,
  nameToolResults,
  tokensOf,
  uniqueId,
  type Body,
  type Frame,
  type FullAnswer,
  type RequestContent,
  type Wire,
} from './wire.ts';

/** OpenAI's Chat Completions API, which many other providers speak too. */
export const openaiChat: Wire = { read, whole, stream };

function read(body: Body): RequestContent {
  const messages = listOf(body['messages']);
  return {
    instructions: messages
      .filter(({ role }) => isInstruction(role))
      .map(({ content }) => contentText(content))
      .join('\n'),
    messages: nameToolResults(messages.filter(({ role }) => !isInstruction(role)).map(readMessage)),
    tools: listOf(body['tools']).map((tool) => String(functionOf(tool)['name'])),
  };
}

function readMessage(message: Record<string, unknown>): ProviderMessage {
  const text = contentText(message['content']);
  if (message['role'] === 'tool') {
    return messageOf('tool', { toolResults: [{ callId: String(message['tool_call_id']), name: '', text }] });
  }
  const toolCalls = listOf(message['tool_calls']).map((call) => ({
    id: String(call['id']),
    name: String(functionOf(call)['name']),
    arguments: String(functionOf(call)['arguments']),
  }));
  return messageOf(message['role'], { text, toolCalls });
}

function functionOf(part: Record<string, unknown>): Record<string, unknown> {
  return (part['function'] ?? {}) as Record<string, unknown>;
}

function whole(answer: FullAnswer, body: Body) {
  const message = {
    role: 'assistant',
    content: answer.text ?? null,
    refusal: null,
    annotations: [],
    ...(answer.toolCalls.length === 0 ? {} : { tool_calls: toolCallsOf(answer) }),
  };
  return {
    ...envelope(body, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(answer) }],
    usage: usageOf(answer),
  };
}

function stream(answer: FullAnswer, body: Body): { opening: Frame[]; rest: Frame[] } {
  const shared = envelope(body, 'chat.completion.chunk');
  const options = (body['stream_options'] ?? {}) as Record<string, unknown>;
  const withUsage = options['include_usage'] === true;
  const frame = (delta: object, finish_reason: string | null = null): Frame => ({
    data: {
      ...shared,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(withUsage ? { usage: null } : {}),
    },
  });
  const rest = [
    ...tokensOf(answer.text ?? '').map((content) => frame({ content })),
    ...toolCallsOf(answer).flatMap((call, index) => [
      frame({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] }),
      ...tokensOf(call.function.arguments).map((token) =>
        frame({ tool_calls: [{ index, function: { arguments: token } }] }),
      ),
    ]),
    frame({}, finishReason(answer)),
    ...(withUsage ? [{ data: { ...shared, choices: [], usage: usageOf(answer) } }] : []),
    { data: '[DONE]' },
  ];
  return { opening: [frame({ role: 'assistant', content: '', refusal: null })], rest };
}

function toolCallsOf(answer: FullAnswer) {
  return answer.toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
}

function finishReason(answer: FullAnswer): string {
  return answer.toolCalls.length === 0 ? 'stop' : 'tool_calls';
}

function envelope(body: Body, object: string) {
  return {
    id: uniqueId('chatcmpl-'),
    object,
    created: Math.floor(Date.now() / 1000),
    model: body['model'],
    service_tier: 'default',
    system_fingerprint: null,
  };
}

function usageOf({ usage: { inputTokens, outputTokens, cachedTokens, reasoningTokens } }: FullAnswer) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoningTokens, audio_tokens: 0 },
  };
}
