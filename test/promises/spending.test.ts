/** What a run says it has spent, beside the provider's own books. */
import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { addUsage, fork, report, resume, type RunUsage, type Usage, usage } from '../../src/index.ts';
import type { ProviderScript } from '../../src/testing/index.ts';
import { type Scene, scene } from '../kit/scene.ts';
import type { KillAt } from '../kit/workers.ts';
import { assertReplays, chainOf, client, unique, until } from '../kit/temporal.ts';

const EACH: Usage = { input: 1_000, output: 100, cacheRead: 400, reasoning: 30 };
/** By OpenAI's price list for gpt-4.1: $2, $0.50 from the cache and $8 a million. */
const USD = (600 * 2 + 400 * 0.5 + 100 * 8) / 1_000_000;
const script: ProviderScript = ({ messages, attempt }) =>
  messages.at(-1)!.text.startsWith('sum up') && attempt === 1
    ? { status: 503, headers: { 'retry-after-ms': '10' } }
    : {
        text: 'ok',
        usage: { inputTokens: 1_000, outputTokens: 100, cachedTokens: 400, reasoningTokens: 30 },
      };
/** Explorer's three, and two of each scout. */
const TURNS = 7;

const times = (turns: number): object => {
  let sum: Usage = { input: 0, output: 0 };
  for (let n = 0; n < turns; n++) sum = addUsage(sum, EACH);
  return { turns, usage: sum, usd: expect.closeTo(turns * USD, 9), unpriced: [] };
};
const answered = (stage: Scene) => stage.provider.requests.filter(({ status }) => status === 200).length;
const turnsOf = ({ own, children, lost }: RunUsage) =>
  [own, children, lost].reduce((sum, { turns }) => sum + turns, 0);

test('its turns and those of its children, once each, and nothing for an attempt that failed', async () => {
  await using stage = await scene('spending-agents', { script });
  await stage.spawn();
  const handle = await stage.start('explorer', 'Mars');
  await handle.result();
  expect(answered(stage)).toBe(TURNS);
  expect(stage.provider.requests).toHaveLength(TURNS + 1);
  const spent = await handle.query(usage);
  expect(spent).toEqual({
    own: times(3),
    children: times(4),
    lost: times(0),
    replayed: { ...times(0), restarts: 0, ms: 0 },
    before: times(0),
    cached: { calls: 0, durationMs: 0 },
    priceTable: expect.stringMatching(/^@pydantic\/genai-prices \d/),
  });
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toMatch(
    /Spent by .+: 7 model turns, \*\*7,000\*\* tokens in \(2,800 from the provider's cache\), \*\*700\*\* out \(210 reasoning\), \*\*\$0\.0154\*\*/,
  );
  expect(Buffer.byteLength(currentDetails)).toBeLessThan(4_096);
  await assertReplays(await chainOf(handle));
});

test.each<KillAt>([
  { step: 1, when: 'before' },
  { step: 2, when: 'after' },
  { step: 3, when: 'before' },
])('is what the provider charged, over a kill of $step $when', async (kill) => {
  await using stage = await scene('spending-agents', { script });
  const first = await stage.spawn({ kill });
  const handle = await stage.start('scout', 'Mars');
  await first.ended;
  await stage.spawn();
  await handle.result();
  const spent = await handle.query(usage);
  expect(spent.own).toEqual(times(2));
  // A turn that the server had given to the dying worker counts as lost, though it never came to the provider.
  const unsent = turnsOf(spent) - answered(stage);
  expect(unsent).toBeGreaterThanOrEqual(0);
  expect(unsent).toBeLessThanOrEqual(kill.when === 'after' ? spent.lost.turns : 0);
  await assertReplays(await chainOf(handle));
});

test('of what was under way beside it when a worker was killed, it is at least what the provider charged', async () => {
  await using stage = await scene('spending-agents', { script });
  const first = await stage.spawn({ kill: { step: 4, when: 'before' } });
  const handle = await stage.start('explorer', 'Mars');
  await first.ended;
  await stage.spawn();
  await handle.result();
  const spent = await handle.query(usage);
  expect([spent.own, spent.children.turns]).toEqual([times(3), expect.any(Number)]);
  expect(answered(stage)).toBeGreaterThanOrEqual(TURNS);
  expect(turnsOf(spent)).toBeGreaterThanOrEqual(answered(stage));
});

test('an attempt that was cut off without an answer may have been charged, one that was refused was not', async () => {
  await using stage = await scene('spending-agents', {
    script: async (request) => {
      const { messages, attempt } = request;
      if (messages.at(-1)!.text.startsWith('scout') && attempt === 1) return { reset: true as const };
      return messages.at(-1)!.text.startsWith('report') && attempt === 1
        ? { status: 500, headers: { 'retry-after-ms': '10' } }
        : await script(request);
    },
  });
  await stage.spawn();
  const handle = await stage.start('scout', 'Pluto');
  await handle.result();
  expect(await handle.query(usage)).toMatchObject({ own: times(2), lost: times(1) });
  expect(stage.provider.requests).toHaveLength(4);
});

test('a restart pays for nothing again, and says how much that was', async () => {
  await using stage = await scene('spending-agents', { script });
  const first = await stage.spawn();
  const handle = await stage.start('explorer', 'Venus');
  await until(async () => (await handle.query(usage)).children.turns === 4, 'the scouts are back');
  await handle.result();
  await first.kill();
  await stage.spawn();
  // The run is over: a query alone builds no loop, and a replay of the history is not a restart.
  expect((await handle.query(usage)).replayed.restarts).toBe(0);
});

test('a run that is resumed, or forked, says what the one before had paid', async () => {
  await using stage = await scene('spending-agents', { script });
  const broken = await stage.spawn({ env: { BROKEN: 'yes' } });
  const handle: WorkflowHandle = await stage.start('explorer', 'Moon');
  await expect(handle.result()).rejects.toThrow();
  await broken.kill();
  await stage.spawn();
  const resumed = await resume(await client(), handle.workflowId);
  await resumed.result();
  expect(await resumed.query(usage)).toMatchObject({
    own: times(1),
    children: times(0),
    before: times(2),
    replayed: { ...times(2), restarts: 1 },
  });
  expect(answered(stage)).toBe(TURNS);
  const forked = await fork(await client(), handle.workflowId, { workflowId: unique('fork'), keep: 1 });
  await forked.result();
  expect(await forked.query(usage)).toMatchObject({ own: times(2), children: times(4), before: times(1) });
  expect(answered(stage)).toBe(TURNS + 6);
});

test('a prompt that was changed while a run went on: the report names the step and the field', async () => {
  await using stage = await scene('spending-agents', {
    script: async (request) => {
      const { text } = request.messages.at(-1)!;
      // The first worker is replaced while this waits.
      return text.startsWith('report') ? { text: 'ok', delayMs: 3_000 } : await script(request);
    },
  });
  const first = await stage.spawn();
  const handle = await stage.start('explorer', 'Io');
  await stage.provider.waitFor(({ body }) => JSON.stringify(body).includes('report Io'));
  await first.kill();
  await stage.spawn({ env: { PROMPT: 'second' } });
  await handle.result();
  const { steps, total } = await handle.query(report);
  expect(total).toBe(steps.length);
  const missed = steps.filter((step) => step.missed);
  expect(missed.map(({ kind, name, missed: fields }) => [kind, name, fields])).toEqual([
    ['turn', 'gpt-4.1', ['input']],
  ]);
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain('Asked anew: turn `gpt-4.1`, whose `input` changed');
});

test('a page of the report begins where it is asked to, and takes what anybody may ask', async () => {
  await using stage = await scene('spending-agents', { script });
  await stage.spawn();
  const handle = await stage.start('explorer', 'Titan');
  await handle.result();
  const whole = await handle.query(report);
  expect(whole).toMatchObject({
    agent: 'explorer',
    workflowId: handle.workflowId,
    total: 5,
    from: 0,
    inFlight: [],
  });
  expect(whole.steps.map(({ no, kind, name }) => [no, kind, name])).toEqual([
    [0, 'turn', 'gpt-4.1'],
    [1, 'agent', 'scout'],
    [2, 'agent', 'scout'],
    [3, 'turn', 'gpt-4.1'],
    [4, 'turn', 'gpt-4.1'],
  ]);
  expect(whole.steps[1]).toMatchObject({
    asked: expect.stringMatching(/^"Titan (north|south)"$/),
    child: expect.stringContaining(`${handle.workflowId}/scout-`),
  });
  expect(whole.steps[3]).toMatchObject({
    usage: EACH,
    usd: expect.closeTo(USD, 9),
    bytes: 4,
    answer: '"ok"',
  });
  expect((await handle.query(report, { from: 3, limit: 1 })).steps).toEqual([whole.steps[3]]);
  for (const page of [null, 'x', { from: -5, limit: 'all' }, { from: 1e300 }, { limit: 0 }])
    expect((await handle.query(report, page as never)).total).toBe(5);
});
