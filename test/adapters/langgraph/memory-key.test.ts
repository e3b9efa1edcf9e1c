/** Agents of LangChain that go on in a thread under a key. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { approve } from '../../../src/index.ts';
import { runAgent } from '../../../adapters/langchain/index.ts';
import { conversationScript } from '../../fixtures/conversation-agents.ts';
import { type Scene, scene } from '../../kit/scene.ts';
import { until } from '../../kit/temporal.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';

const newScene = async () => {
  const root = join(mkdtempSync(join(tmpdir(), 'threads-')), 'blobs');
  const stage = await scene('thread-agents', { script: conversationScript, env: { KIT_BLOBS: root } });
  await stage.spawn();
  return stage;
};
const run = async (stage: Scene, agent: string, input: object) =>
  (await (await stage.start(agent, input)).result()) as unknown;
/** Starts one that has read its thread, and waits for a person. */
async function payer(stage: Scene, how: object = {}) {
  const handle = await stage.start('remembers', { key: 'ann', says: 'pay', ...how });
  await untilWaiting(handle, ['pay-1']);
  return async () => {
    await handle.signal(approve, { id: 'pay-1' });
    return (await handle.result()) as unknown;
  };
}

describe('an agent with a memoryKey', () => {
  test('has its state back, by key and conversation', async () => {
    await using stage = await newScene();
    expect(await run(stage, 'remembers', { key: 'ann', says: 'a' })).toBe('heard: a');
    expect(await run(stage, 'remembers', { key: 'ann', says: 'b' })).toBe('heard: a,b');
    expect(await run(stage, 'remembers', { key: 'bob', says: 'c' })).toBe('heard: c');
    const other = { key: 'ann', says: 'd', conversation: 'other' };
    expect(await run(stage, 'remembers', other)).toBe('heard: d');
    expect(await run(stage, 'asksTwice', { key: 'ann', says: 'e' })).toEqual([
      'heard: a,b,e',
      'heard: a,b,e,e again',
    ]);
  });

  test('holds its thread while a person is asked: others wait for it, or are refused', async () => {
    await using stage = await newScene();
    const pays = await payer(stage);
    await expect(
      run(stage, 'remembers', { key: 'ann', says: 'b', whenBusy: 'reject' }),
    ).rejects.toMatchObject({ cause: { type: 'ConversationBusyError' } });
    const waits = await stage.start('remembers', { key: 'ann', says: 'c' });
    await until(async () => {
      const { raw } = await waits.describe();
      return raw.pendingActivities?.some(({ lastFailure }) => lastFailure?.message?.includes('holds it'));
    }, 'the second one waits');
    expect(await pays()).toBe('heard: pay');
    expect(await waits.result()).toBe('heard: pay,c');
  });

  test('goes on in a thread of its own with fork, if another one wrote meanwhile', async () => {
    await using stage = await newScene();
    await run(stage, 'remembers', { key: 'ann', says: 'a' });
    const pays = await payer(stage, { whenBusy: 'fork' });
    expect(await run(stage, 'remembers', { key: 'ann', says: 'b' })).toBe('heard: a,b');
    const forked = (await pays()) as { answer: string; fork: string };
    expect(forked).toEqual({ answer: 'heard: a,pay', fork: expect.stringMatching(/^main~/) as unknown });
    const onward = { key: 'ann', says: 'c', conversation: forked.fork };
    expect(await run(stage, 'remembers', onward)).toBe('heard: a,pay,c');
    expect(await run(stage, 'asksTwice', { key: 'ann', says: 'd', whenBusy: 'fork' })).toEqual([
      'heard: a,b,d',
      'heard: a,b,d,d again',
    ]);
  });

  test('leaves its thread as it was if it fails', async () => {
    await using stage = await newScene();
    await run(stage, 'remembers', { key: 'ann', says: 'a' });
    const handle = await stage.start('remembers', { key: 'ann', says: 'pay' });
    await untilWaiting(handle, ['pay-1']);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    expect(await run(stage, 'remembers', { key: 'ann', says: 'b' })).toBe('heard: a,b');
  });

  test('fails at once where it cannot be', async () => {
    await using stage = await newScene();
    for (const [agent, input, type] of [
      ['remembers', { key: '', says: 'x' }, 'MemoryPathError'],
      ['remembers', { key: 'ann', says: 'x', conversation: '../x' }, 'MemoryPathError'],
      ['remembers', { key: 'ann', says: 'x', whenBusy: 'wait' }, 'DeclarationError'],
      ['remembers', { key: 'ann', says: 'x', whenBusy: 'append' }, 'UnsupportedError'],
      ['usesTwice', { key: 'ann' }, 'UnsupportedError'],
      ['forksDeltas', { key: 'ann' }, 'UnsupportedError'],
    ] as const)
      await expect(run(stage, agent, input)).rejects.toMatchObject({ cause: { type } });
    expect(stage.provider.requests).toEqual([]);
    await expect(runAgent('x', { model: 'openai:x', memoryKey: 'ann' })).rejects.toThrow('outside a run');
    await expect(runAgent('x', { model: 'openai:x', conversation: 'a' })).rejects.toThrow('"memoryKey"');
  });
});
