import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { z } from 'zod';
import { records, tool } from '../../src/index.ts';
import { AgentsPlugin } from '../../src/worker/index.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, unique } from '../kit/temporal.ts';
import { nativeConnection } from '../kit/workers.ts';

async function cached() {
  const blobs = pathToFileURL(join(mkdtempSync(join(tmpdir(), 'cache-')), 'store')).href;
  return await scene('cached-agents', { plugin: { blobs } });
}

test('an equal call is answered once, in whatever run and process, and says whose answer it is', async () => {
  await using stage = await cached();
  const first = await stage.spawn();
  const one = await stage.start('rates', 'EUR');
  const answer = { of: 'EUR', rate: '1.1' };
  expect(await one.result()).toEqual([answer, answer]);
  await first.kill();
  await stage.spawn({ env: { RATE: '2.2' } });
  const two = await stage.start('rates', 'EUR');
  expect(await two.result()).toEqual([answer, answer]);
  expect(stage.tally()).toEqual({ 'rate EUR': 1 });
  const from = {
    workflowId: one.workflowId,
    runId: one.firstExecutionRunId,
    at: expect.any(Number),
    durationMs: expect.any(Number),
  };
  const origins = async (handle: typeof one) => (await handle.query(records)).map((record) => record.cached);
  expect(await origins(one)).toEqual([undefined, from]);
  expect(await origins(two)).toEqual([from, from]);
  expect((await origins(two))[0]!.durationMs).toBeGreaterThanOrEqual(49);
  const dollars = { of: 'USD', rate: '2.2' };
  expect(await (await stage.start('rates', 'USD')).result()).toEqual([dollars, dollars]);
  expect(stage.tally()).toEqual({ 'rate EUR': 1, 'rate USD': 1 });
  await assertReplays([...(await chainOf(one)), ...(await chainOf(two))]);
});

test('eight equal calls at once in a process run the body once', async () => {
  await using stage = await cached();
  await stage.spawn();
  const all = await (await stage.start('crowd', 'EUR')).result();
  expect(all).toEqual(Array.from({ length: 8 }, () => ({ of: 'EUR', rate: '1.1' })));
  expect(stage.tally()).toEqual({ 'rate EUR': 1 });
});

test('a failure is not used again', async () => {
  await using stage = await cached();
  const down = await stage.spawn({ env: { RATE: 'down' } });
  await expect((await stage.start('flakes', 'EUR')).result()).rejects.toMatchObject({
    cause: { message: 'no rate today' },
  });
  await down.kill();
  await stage.spawn();
  expect(await (await stage.start('flakes', 'EUR')).result()).toEqual(['1.1', '1.1']);
  expect(stage.tally()).toEqual({ 'flaky EUR': 2 });
});

test('how far an answer reaches is as its tool says: a run, a time, who asks', async () => {
  await using stage = await cached();
  await stage.spawn();
  const run = async (agent: string, what: string) => await (await stage.start(agent, what)).result();
  await run('onces', 'EUR');
  await run('onces', 'EUR');
  expect(stage.tally()).toEqual({ 'once EUR': 2 });
  await run('freshes', 'EUR');
  expect(stage.tally()['fresh EUR']).toBe(2);
  expect(await run('tenants', 'acme EUR')).toBe('EUR of acme');
  expect(await run('tenants', 'umbrella EUR')).toBe('EUR of umbrella');
  expect(await run('tenants', 'acme EUR')).toBe('EUR of acme');
  expect(stage.tally()['mine EUR']).toBe(2);
});

test('is refused where it cannot be meant, and where there is no store', async () => {
  const options = { name: unique('priced').replaceAll('-', '_'), description: '', parameters: z.object({}) };
  const execute = () => 1;
  expect(() => tool({ ...options, execute, cache: 'auto', requiresApproval: true })).toThrow(
    /what needs a person's approval, or a rule .* has an effect/,
  );
  expect(() => tool({ ...options, execute, cache: 'always' as never })).toThrow(/"cache" must be/);
  expect(() => tool({ ...options, execute, cache: { ttl: 'soon' } })).toThrow(
    /"cache.ttl" must be a duration/,
  );
  const priced = tool({ ...options, execute, cache: 'auto' });
  const worker = Worker.create({
    connection: await nativeConnection(),
    taskQueue: unique('no-store'),
    plugins: [new AgentsPlugin({ tools: [priced] })],
  });
  await expect(worker).rejects.toThrow(/"cache" needs a blob store. Give "blobs" to AgentsPlugin/);
});
