/** What makes two turns the same. */
import { expect, test } from '@jest/globals';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import {
  maxOutputTokens,
  type Model,
  modelName,
  type Options,
  requestOfTurn,
} from '../../../adapters/langchain/turn-request.ts';
import { digest } from '../../../src/loop/fingerprint.ts';

const model = (options: object = {}) =>
  new ChatOpenAI({ model: 'gpt-4.1-mini', apiKey: 'sk-secret', ...options }) as unknown as Model;
const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } });
const talk = (id: string, content: AIMessage['content'] = 'I look.') => [
  new SystemMessage('Be kind.'),
  new HumanMessage({ content: 'Hi', id: `human-${id}` }),
  new AIMessage({
    content,
    id: `ai-${id}`,
    tool_calls: [{ id: `call-${id}`, name: 'look', args: { at: 1 } }],
    response_metadata: { id },
    additional_kwargs: { id },
  }),
  new ToolMessage({ content: 'seen', tool_call_id: `call-${id}`, id: `tool-${id}` }),
];
const print = (of: Model, messages = talk('a'), options: Options = {}) =>
  digest(requestOfTurn(of, messages, options));

test('is not ids, the key of the provider, or how the call is made', () => {
  const { signal } = new AbortController();
  const same = [
    print(model(), talk('b')),
    print(model({ apiKey: 'sk-other', maxRetries: 9, timeout: 5 })),
    print(model(), talk('a'), { signal, executionInfo: { taskId: 'x' }, writer: () => {}, timeout: 3 }),
    print(
      model(),
      talk('a', [
        { type: 'text', text: 'I ' },
        { type: 'text', text: 'look.', index: 1 },
      ]),
    ),
    print(
      model(),
      talk('a', [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'a', name: 'look' },
      ]),
    ),
  ];
  for (const each of same) expect(each).toBe(print(model()));
  expect(JSON.stringify(requestOfTurn(model(), talk('a'), {}))).not.toContain('sk-');
});

test('is the order of tools neither', () => {
  const [ab, ba] = [
    [tool('a'), tool('b')],
    [tool('b'), tool('a')],
  ];
  expect(print(model(), talk('a'), { tools: ba })).toBe(print(model(), talk('a'), { tools: ab }));
});

test('is all that the provider is told', () => {
  const other = [
    print(model({ model: 'gpt-4.1' })),
    print(model({ temperature: 0.5 })),
    print(model(), talk('a', 'I see.')),
    print(model(), talk('a').slice(1)),
    print(model(), talk('a'), { tools: [tool('a')] }),
    print(model(), talk('a'), { tools: [tool('a')], tool_choice: 'required' }),
    print(model(), talk('a'), { stop: ['.'] }),
  ];
  expect(new Set([print(model()), ...other])).toHaveProperty('size', other.length + 1);
});

test('names the model, and the most that it may answer', () => {
  expect(modelName(model(), {})).toBe('gpt-4.1-mini');
  expect(maxOutputTokens(model(), {})).toBeUndefined();
  expect(maxOutputTokens(model({ maxTokens: 50 }), {})).toBe(50);
  expect(maxOutputTokens(model({ model: 'o4-mini', maxTokens: 60 }), {})).toBe(60);
});
