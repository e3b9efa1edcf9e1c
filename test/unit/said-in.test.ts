import { expect, test } from '@jest/globals';
import { saidIn } from '../../src/records/said-in.ts';

test('is the texts and the calls of an answer, in whatever form a framework keeps them', () => {
  const openai = {
    usage: { inputTokens: 3, text: 'no' },
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', callId: 'c', name: 'search', arguments: '{"topic":"cats"}' },
    ],
    providerData: { text: { format: 'x' } },
  };
  expect(saidIn(openai)).toBe('I look. search({"topic":"cats"})');
  const langchain = { content: [{ type: 'text', text: 'Yes' }], tool_calls: [{ name: 'now', args: {} }] };
  expect(saidIn(langchain)).toBe('Yes now({})');
});

test('is nothing where there is no text, and where it lies too deep', () => {
  expect(['plain', null, 3, [], {}].map((answer) => saidIn(answer))).toEqual(['', '', '', '', '']);
  let deep: unknown = { text: 'x' };
  for (let n = 0; n < 20; n++) deep = [deep];
  expect(saidIn(deep)).toBe('');
});
