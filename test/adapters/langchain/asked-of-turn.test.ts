/** What a report says that a model was asked. */
import { expect, test } from '@jest/globals';
import { HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { askedOfTurn } from '../../../adapters/langchain/asked-of-turn.ts';

const image = { type: 'image_url', image_url: 'data:' };
const result = (content: string) => new ToolMessage({ content, tool_call_id: 'c', name: 'look' });

test.each([
  [
    'the last message',
    [new SystemMessage('x'), new HumanMessage('first'), new HumanMessage('second')],
    'second',
  ],
  [
    'the text among its parts',
    [new HumanMessage({ content: [image, { type: 'text', text: 'this?' }] })],
    'this?',
  ],
  ['nothing, of what has no text', [new HumanMessage({ content: [image] })], undefined],
  ["a tool's result", [new HumanMessage('first'), result('22 C')], 'result of look: 22 C'],
  ['nothing, of nothing', [], undefined],
])('is %s', (_what, messages, asked) => expect(askedOfTurn(messages)).toBe(asked));

test('is short, however much there is', () => {
  expect(askedOfTurn([new HumanMessage('x'.repeat(10_000_000))])).toHaveLength(500);
  expect(askedOfTurn([result('x'.repeat(10_000_000))])!.length).toBeLessThan(600);
});
