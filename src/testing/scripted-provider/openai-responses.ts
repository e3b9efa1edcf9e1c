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

/** OpenAI's Responses API. */
export const openaiResponses: Wire = { read, whole, stream };

function read(body: Body): RequestContent {
  const input =
    typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : listOf(body['input']);
  const instructions = [
    body['instructions'],
    ...input.filter(isSystem).map(({ content }) => contentText(content)),
  ];
  return {
    instructions: instructions.filter((text) => typeof text === 'string').join('\n'),
    messages: nameToolResults(input.filter((item) => !isSystem(item)).flatMap(readItem)),
    tools: listOf(body['tools']).map(({ name, type }) => String(name ?? type)),
  };
}

function isSystem(item: Record<string, unknown>): boolean {
  return isInstruction(item['role']);
}

function readItem(item: Record<string, unknown>): ProviderMessage[] {
  const id = String(item['call_id']);
  switch (item['type'] ?? 'message') {
    case 'message':
      return [messageOf(item['role'], { text: contentText(item['content']) })];
    case 'function_call': {
      const call = { id, name: String(item['name']), arguments: String(item['arguments']) };
      return [messageOf('assistant', { toolCalls: [call] })];
    }
    case 'function_call_output':
      return [
        messageOf('tool', { toolResults: [{ callId: id, name: '', text: contentText(item['output']) }] }),
      ];
    default:
      return [];
  }
}

function whole(answer: FullAnswer, body: Body) {
  const items = answer.items.map((item) => ({ id: uniqueId('item_'), ...item }));
  const output = [...items, ...outputOf(answer)];
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = answer.usage;
  return {
    ...envelope(body),
    status: 'completed',
    completed_at: now(),
    output,
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: inputTokens + outputTokens,
    },
  };
}

function outputOf({ text, toolCalls }: FullAnswer) {
  const message = {
    id: uniqueId('msg_'),
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  };
  const calls = toolCalls.map(({ id, name, arguments: args }) => ({
    id: uniqueId('fc_'),
    type: 'function_call',
    status: 'completed',
    call_id: id,
    name,
    arguments: args,
  }));
  return [...(text === undefined ? [] : [message]), ...calls];
}

function stream(answer: FullAnswer, body: Body): { opening: Frame[]; rest: Frame[] } {
  const response = whole(answer, body);
  const started = { ...response, status: 'in_progress', completed_at: null, output: [], usage: null };
  const opening = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
  ];
  const events = response.output.flatMap((item, i) =>
    i < answer.items.length ? foreignEvents(item, i) : itemEvents(item as OwnItem, i),
  );
  const rest = [...events, { type: 'response.completed', response }];
  const frames = [...opening, ...rest].map((event, sequence_number) => ({
    event: event.type,
    data: { ...event, sequence_number },
  }));
  return { opening: frames.slice(0, opening.length), rest: frames.slice(opening.length) };
}

function foreignEvents(item: unknown, output_index: number): { type: string }[] {
  const event = { output_index, item };
  return ['added', 'done'].map((what) => ({ type: `response.output_item.${what}`, ...event }));
}

type OwnItem = ReturnType<typeof outputOf>[number];

function itemEvents(item: OwnItem, output_index: number): { type: string }[] {
  const at = { item_id: item.id, output_index };
  const added = { type: 'response.output_item.added', output_index };
  const done = { type: 'response.output_item.done', output_index, item };
  if ('arguments' in item) {
    const { name, arguments: args } = item;
    return [
      { ...added, item: { ...item, status: 'in_progress', arguments: '' } } as { type: string },
      ...tokensOf(args).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
      { type: 'response.function_call_arguments.done', ...at, name, arguments: args } as { type: string },
      done,
    ];
  }
  const part = { ...at, content_index: 0 };
  const [content] = item.content;
  const text = content?.text ?? '';
  return [
    { ...added, item: { ...item, status: 'in_progress', content: [] } } as { type: string },
    { type: 'response.content_part.added', ...part, part: { ...content, text: '' } } as { type: string },
    ...tokensOf(text).map((delta) => ({ type: 'response.output_text.delta', ...part, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...part, text, logprobs: [] } as { type: string },
    { type: 'response.content_part.done', ...part, part: content } as { type: string },
    done,
  ];
}

/** What a response says of itself and repeats of its request. */
function envelope(body: Body) {
  return {
    id: uniqueId('resp_'),
    object: 'response',
    created_at: now(),
    model: body['model'],
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    metadata: body['metadata'] ?? {},
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    reasoning: { effort: null, summary: null },
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
  };
}

/** The time in seconds, as OpenAI tells it. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}
