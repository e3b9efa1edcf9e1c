/** Every kind of stream that LangGraph has, its worker killed meanwhile: what comes is what comes without Temporal. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { answer } from '../../../src/index.ts';
import { type ProviderScript, startScriptedProvider } from '../../../src/testing/index.ts';
import { eventsV2, eventsV3, type Leaves, leaves, MODES, streamed } from '../../fixtures/stream-agents.ts';
import { scene } from '../../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps } from '../../kit/temporal.ts';
import { untilAsked } from '../../kit/waiting-runs.ts';

const SLOW_MS = 20_000;
const script: ProviderScript = ({ instructions, messages }) => {
  if (messages.at(-1)!.text === 'slow') return { text: 'late', delayMs: SLOW_MS };
  if (instructions === '') return { text: `About: ${messages.at(-1)!.text}`, usage: {} };
  const results = messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
  return results.length > 0
    ? { text: `It is so: ${results.join()}` }
    : { toolCalls: [{ name: 'weigh', arguments: { what: 'the lot' } }] };
};
const env = (url: string) => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: url });

const kinds = [...MODES.map((mode) => ['streamed', mode] as const), ['events-v2'], ['events-v3']] as const;
const named = (streams: readonly unknown[]) =>
  Object.fromEntries(kinds.map(([name, mode], i) => [mode ?? name, streams[i]]));
const turns = 4;

test('streams in every mode bring the same in a run, and after a crash', async () => {
  const provider = await startScriptedProvider(script);
  Object.assign(process.env, env(provider.url));
  const outside: unknown[] = [];
  for (const mode of MODES) outside.push(await streamed(mode));
  outside.push(await eventsV2(), await eventsV3());
  await provider.stop();

  await using stage = await scene('stream-agents', { script });
  const how = { env: env(stage.provider.url) };
  const all = async () => {
    const handles = await Promise.all(kinds.map(async ([name, mode]) => await stage.start(name, mode)));
    return {
      handles,
      results: Promise.all(handles.map(async (handle) => (await handle.result()) as unknown)),
    };
  };
  // Some have begun, some are half way, when it dies.
  const first = await stage.spawn({ ...how, kill: { step: 2 * kinds.length, when: 'after' } });
  const { handles, results } = await all();
  expect(await first.ended).toMatchObject({ signal: 'SIGKILL' });
  await stage.spawn(how);
  const killed = await results;
  expect(named(killed)).toEqual(named(outside));
  for (const handle of handles) {
    const histories = await chainOf(handle);
    expect(repeatedSteps(histories)).toEqual([]);
    await assertReplays(histories);
  }
  // One model's answer is all that can have been under way in each of them.
  expect(stage.provider.requests.length).toBeLessThanOrEqual((turns + 1) * kinds.length);

  const undisturbed = stage.provider.requests.length;
  const live = await (await all()).results;
  expect(named(live)).toEqual(named(outside));
  expect(stage.provider.requests.length - undisturbed).toBe(turns * kinds.length);
});

test('tasks of an entrypoint have their answers from before when a person is waited for and the worker dies', async () => {
  await using stage = await scene('stream-agents', { script });
  const how = { env: env(stage.provider.url) };
  const first = await stage.spawn(how);
  const handle = await stage.start('functional');
  const [question] = await untilAsked(handle, ['interrupt-1']);
  expect(question).toMatchObject({ prompt: 'Which? {"drafts":["About: a","About: b","About: a"]}' });
  await first.kill();
  await stage.spawn(how);
  await handle.signal(answer, { id: 'interrupt-1', value: 'b' });
  expect(await handle.result()).toBe('b: About: Finish b');
  expect(stage.provider.requests).toHaveLength(4);
  expect(repeatedSteps(await chainOf(handle))).toEqual([]);
});

test('a stream that is left early is left at once: nobody waits for what would come then', async () => {
  const provider = await startScriptedProvider(script);
  Object.assign(process.env, env(provider.url));
  const alone = (await leaves({ mode: 'updates', next: 'turn' })) as object;
  await provider.stop();
  expect(alone).toEqual({ isOver: false, left: ['a'] });

  await using stage = await scene('stream-agents', {
    script,
    env: { KIT_BLOBS: join(mkdtempSync(join(tmpdir(), 'streams-')), 'blobs') },
  });
  await stage.spawn({ env: env(stage.provider.url) });
  const began = Date.now();
  const left = async (how: Leaves) => (await (await stage.start('leaves', how)).result()) as unknown;
  const ofTurns = [{}, { thread: 'exit' as const }, { thread: 'sync' as const }].map(
    async (how) => await left({ mode: 'updates', next: 'turn', ...how }),
  );
  // A question is no part of a stream of what nodes write.
  const questions = (['updates', 'custom'] as const).map(
    async (mode) => await left({ mode, next: 'person' }),
  );
  expect(await Promise.all(ofTurns)).toEqual([alone, alone, alone]);
  expect(await Promise.all(questions)).toMatchObject([alone, { isOver: false }]);
  expect(Date.now() - began).toBeLessThan(SLOW_MS);
  expect(stage.tally()).toEqual({});
});
