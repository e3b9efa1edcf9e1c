import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { approve } from '../../../src/index.ts';
import { conversationScript } from '../../fixtures/conversation-agents.ts';
import { conversationIn, exchange, wordsOf } from '../../kit/conversations.ts';
import { scene } from '../../kit/scene.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';

test('the oldest version of the SDK keeps conversations too, streamed and not', async () => {
  const root = mkdtempSync(join(tmpdir(), 'conversations-'));
  await using stage = await scene('conversation-agents', {
    script: conversationScript,
    env: { KIT_BLOBS: root },
  });
  await stage.spawn({ preload: new URL('../../kit/oldest-openai-agents.mjs', import.meta.url).href });
  const ask = async (agent: string, key: string, says: string) =>
    (await (await stage.start(agent, { key, says })).result()) as unknown;
  expect(await ask('chat', 'ann', 'one')).toBe('heard: one');
  expect(await ask('chat', 'ann', 'two')).toBe('heard: one,two');
  expect(await wordsOf(conversationIn(root, 'ann'))).toEqual([
    ...exchange('one', ['one']),
    ...exchange('two', ['one', 'two']),
  ]);
  expect(await ask('streams', 'bob', 'n')).toEqual(['heard: n1', 'heard: n1,n2']);
  expect((await conversationIn(root, 'bob').read()).version).toBe(2);
  const paying = await stage.start('pays', { key: 'cid', says: 'own bill', whenBusy: 'queue' });
  await untilWaiting(paying, ['own_pay-1']);
  await paying.signal(approve, { id: 'own_pay-1' });
  expect(await paying.result()).toBe('heard: own bill');
  expect((await conversationIn(root, 'cid').read()).version).toBe(1);
});
