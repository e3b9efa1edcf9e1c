/** What a report says that a model was asked. */
import { expect, test } from '@jest/globals';
import { askedOfTurn } from '../../../adapters/openai-agents/asked-of-turn.ts';

const user = (content: unknown) => ({ role: 'user', content });
const result = (output: unknown, name = 'look') => ({
  type: 'function_call_result',
  name,
  callId: 'c',
  output,
});

test.each([
  ['a text', 'What of it?', 'What of it?'],
  ['the last message', [user('first'), user('second')], 'second'],
  [
    'the text among its parts',
    [
      user([
        { type: 'input_image', image: 'data:' },
        { type: 'input_text', text: 'this?' },
      ]),
    ],
    'this?',
  ],
  ['nothing, of what has no text', [user([{ type: 'input_image', image: 'data:' }])], undefined],
  ["a tool's result", [user('first'), result('22 C')], 'result of look: 22 C'],
  ["a tool's result in parts", [result({ type: 'text', text: '22 C' })], 'result of look: 22 C'],
  ["a tool's picture", [result([{ type: 'image', image: 'data:' }])], 'result of look: '],
  ['nothing, of nothing', [], undefined],
])('is %s', (_what, input, asked) => expect(askedOfTurn(input as never)).toBe(asked));

test('is short, however much there is', () => {
  expect(askedOfTurn('x'.repeat(10_000_000))).toHaveLength(500);
  expect(askedOfTurn([result('x'.repeat(10_000_000))] as never)!.length).toBeLessThan(600);
});
