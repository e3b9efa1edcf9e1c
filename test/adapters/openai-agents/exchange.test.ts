import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { AgentInputItem } from '@openai/agents';
import { Exchange } from '../../../adapters/openai-agents/exchange.ts';
import { conversationIn, wordsOf } from '../../kit/conversations.ts';

const said = (text: string): AgentInputItem => ({ role: 'user', content: text });
const call = { type: 'function_call', callId: 'a', name: 'look', arguments: '{}' } as AgentInputItem;

/** A conversation of two items, an exchange in it, and what there is once that has ended. */
async function exchanging(does: (exchange: Exchange) => Promise<unknown>, open = false) {
  const conversation = conversationIn(mkdtempSync(join(tmpdir(), 'exchange-')), 'ann');
  await conversation.append([said('one'), open ? call : said('two')]);
  const exchange = new Exchange(conversation, { open });
  await exchange.getItems();
  await conversation.append([said('theirs')]);
  await does(exchange);
  await exchange.end();
  await exchange.end();
  const { version } = await conversation.read();
  return { words: await wordsOf(conversation), writes: version - 2, exchange };
}

test.each<[string, (exchange: Exchange) => Promise<unknown>, string[], number]>([
  ['adds nothing', async () => {}, ['one', 'two', 'theirs'], 0],
  [
    'adds twice',
    async (own) => [await own.addItems([said('a')]), await own.addItems([said('b')])],
    ['one', 'two', 'theirs', 'a', 'b'],
    1,
  ],
  [
    'adds and takes back',
    async (own) => [await own.addItems([said('a')]), await own.popItem()],
    ['one', 'two', 'theirs'],
    0,
  ],
  ['takes back what it read', async (own) => await own.popItem(), ['one', 'theirs'], 1],
  ['clears', async (own) => await own.replaceItems([]), ['theirs'], 1],
  [
    'clears and adds',
    async (own) => [await own.replaceItems([]), await own.addItems([said('a')])],
    ['a', 'theirs'],
    1,
  ],
])(
  'an exchange that %s writes once at most, and keeps what others added',
  async (_what, does, words, writes) => {
    const left = await exchanging(does);
    expect(left.words).toEqual(words.map((text) => `user: ${text}`));
    expect(left.writes).toBe(writes);
  },
);

test('an exchange that goes on from a state sees the call which waits, and a new one does not', async () => {
  const sees = async (open: boolean) => {
    const { exchange } = await exchanging(async () => {}, open);
    return await exchange.getItems();
  };
  expect(await sees(true)).toHaveLength(2);
  const conversation = conversationIn(mkdtempSync(join(tmpdir(), 'exchange-')), 'ann');
  await conversation.append([said('one'), call]);
  expect(await new Exchange(conversation, { open: false }).getItems()).toHaveLength(1);
});
