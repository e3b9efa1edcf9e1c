/**
 * What every adapter must keep. An adapter gives a module with the agents named here, written in its framework, and gets
 * the whole suite; later promises are added here, not to one adapter's tests.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { approve, message, records, reject, waiting } from '../../src/index.ts';
import { assertReplays, chainOf, client, eventsOf, repeatedSteps, unique, until } from '../kit/temporal.ts';
import { untilWaiting } from '../kit/waiting-runs.ts';
import type { WorkerProcess } from '../kit/workers.ts';
import { type AdapterFixture, contractScene, inGroups, kills } from './contract-scene.ts';

export function testAdapter(fixture: AdapterFixture): void {
  const { name, module, steps, silent = [], killFew } = fixture;
  const scene = contractScene(fixture);
  const { crash, spawn, start, callsOf, bodiesOf } = scene;

  describe(`${name}: a run with parallel tools, an agent as tool and a handoff`, () => {
    let whole: Awaited<ReturnType<typeof crash>>;
    beforeAll(async () => (whole = await crash(undefined)));

    test('takes each step once when nothing happens', () => {
      expect(whole.outcome.records).toHaveLength(steps);
      expect(new Set(whole.calls)).toEqual(new Set([1]));
      expect(new Set(Object.values(whole.bodies))).toEqual(new Set([1]));
    });

    test.each(inGroups(kills(steps, killFew)))(
      'ends the same, and nothing answered is done again, killed at %j',
      async (group) => {
        for (const [i, run] of (await Promise.all(group.map(async (kill) => await crash(kill)))).entries()) {
          expect(run.outcome).toEqual(whole.outcome);
          expect(run.histories.flatMap((history) => repeatedSteps([history]))).toEqual([]);
          const { step, when } = group[i]!;
          const again = when === 'before' ? 1 : 0;
          // The only thing done twice is what was under way at the kill: parallel tools may be several.
          const turnsTwice = run.calls.reduce((sum, n) => sum + n - 1, 0);
          const bodiesTwice = Object.values(run.bodies).reduce((sum, n) => sum + n - 1, 0);
          expect(turnsTwice).toBeLessThanOrEqual(again);
          expect(bodiesTwice).toBeLessThanOrEqual(again * 3);
          expect(turnsTwice + bodiesTwice).toBeGreaterThanOrEqual(silent.includes(step) ? 0 : again);
          expect(run.calls).toHaveLength(whole.calls.length);
          expect(Object.keys(run.bodies).toSorted()).toEqual(Object.keys(whole.bodies).toSorted());
          await assertReplays(run.histories);
        }
      },
    );
  });

  describe(`${name}: a deploy while the run waits in an approval`, () => {
    const changes = [
      { change: 'log', calls: 4, bodies: { 'peek p': 1, 'charge c': 1, 'refund r': 1 } },
      { change: 'prompt', calls: 6, bodies: { 'peek p': 2, 'charge c': 1, 'refund r': 1 } },
      { change: 'description', calls: 6, bodies: { 'peek p': 2, 'charge c': 1, 'refund r': 1 } },
      { change: 'call', calls: 5, bodies: { 'peek p': 1, 'charge c': 1, 'refund r': 1 } },
    ];
    const deploy = async (change: string) => {
      const id = unique(change);
      const before = await spawn(id);
      const handle = await start('changing', id);
      await until(async () => (await handle.query(waiting)).approvals.length === 1, 'the approval');
      await before.kill();
      const after = await spawn(id, undefined, { CHANGE: change });
      await handle.signal(approve, { id: 'refund-1' });
      expect(await handle.result()).toBe(`closed case:${id}`);
      const histories = await chainOf(handle);
      await after.kill();
      return { calls: callsOf(id).length, bodies: bodiesOf(id), histories };
    };

    test('asks anew from the first changed request on, and charges nothing twice', async () => {
      const deployed = await Promise.all(changes.map(async ({ change }) => await deploy(change)));
      for (const [i, { calls, bodies, histories }] of deployed.entries()) {
        const expected = changes[i]!;
        // The agent's own code runs whenever its loop is built.
        const { 'log case:X': logged, ...done } = bodies;
        expect(logged !== undefined).toBe(expected.change === 'log');
        const names = Object.entries(expected.bodies).map(([what, n]) => [`${what} case:X`, n]);
        const { change } = expected;
        expect({ change, calls, bodies: done }).toEqual({ ...expected, bodies: Object.fromEntries(names) });
        const failures = eventsOf(histories, 'workflowTaskFailed').map(
          (event) => event.workflowTaskFailedEventAttributes!.failure!.message,
        );
        // A task that ends the run just as a signal comes is tried again; that is all that may fail.
        expect(failures.filter((why) => why !== 'UnhandledCommand')).toEqual([]);
        await assertReplays(histories);
      }
    });
  });

  describe(`${name}: one worker`, () => {
    const taskQueue = unique(`contract-${name}`);
    let worker: WorkerProcess;
    beforeAll(async () => (worker = await spawn(taskQueue)));
    afterAll(async () => await worker.kill());
    const run = async (agent: string, input?: string) => {
      const workflowId = unique(agent);
      const handle = await (
        await client()
      ).workflow.start(agent, { taskQueue, workflowId, args: [input ?? `case:${workflowId}`] });
      return { handle, workflowId };
    };

    test('gives the framework the error of a tool that throws, and the run goes on', async () => {
      const { handle, workflowId } = await run('toolError');
      expect(await handle.result()).toMatch(/^told: /);
      // Two retries are the default of a tool.
      expect(bodiesOf(workflowId)).toEqual({ 'broken case:X': 3 });
      const [, failed] = await handle.query(records);
      expect(failed).toMatchObject({
        kind: 'tool',
        name: 'broken',
        failure: { name: 'Error', message: 'it broke' },
      });
    });

    test('asks again after a failure of the provider that passes, once an attempt', async () => {
      const { handle, workflowId } = await run('flaky');
      expect(await handle.result()).toBe('came at last');
      expect(callsOf(workflowId).map(({ status }) => status)).toEqual([503, 200]);
    });

    test('ends with the error of the provider that does not pass, asked once', async () => {
      const { handle, workflowId } = await run('refused');
      await expect(handle.result()).rejects.toMatchObject({
        cause: { message: expect.stringContaining('no such thing') },
      });
      expect(callsOf(workflowId)).toHaveLength(1);
      const [failed] = await handle.query(records);
      expect(failed).toMatchObject({ kind: 'turn', failure: { status: 400, code: 'bad_thing' } });
    });

    test('closes the socket of the provider when the run is cancelled, and asks nothing more', async () => {
      const { handle, workflowId } = await run('hanging');
      await scene.provider.waitFor(({ body }) => JSON.stringify(body).includes(workflowId));
      await handle.cancel();
      await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
      const call = await scene.provider.waitFor(
        (entry) => JSON.stringify(entry.body).includes(workflowId) && entry.closedEarlyAt !== undefined,
      );
      expect(callsOf(workflowId)).toEqual([call]);
    });

    test('waits for approvals of shared and of own tools, each answered by itself', async () => {
      const { handle, workflowId } = await run('approvals');
      const untilDone = async (id: string, what: string) => {
        await until(async () => `${what} case:X` in bodiesOf(id), what);
      };
      // A framework may show its own approvals only once the other calls of the turn are done.
      const answer = async (id: string, decide: () => Promise<void>) => {
        await until(
          async () => (await handle.query(waiting)).approvals.some((pending) => pending.id === id),
          id,
        );
        await decide();
      };
      await answer('refund-1', async () => {
        await untilDone(workflowId, 'lookup account');
        expect(bodiesOf(workflowId)).toEqual({ 'lookup account case:X': 1 });
        await handle.signal(approve, { id: 'refund-1' });
      });
      await answer('own_refund-1', async () => {
        await untilDone(workflowId, 'refund r');
        expect(bodiesOf(workflowId)).toEqual({ 'lookup account case:X': 1, 'refund r case:X': 1 });
        await handle.signal(reject, { id: 'own_refund-1', reason: 'not this one' });
      });
      expect(await handle.result()).toMatch(
        /refund=refunded.*own_refund=.*not this one|own_refund=.*not this one.*refund=refunded/,
      );
      expect(bodiesOf(workflowId)).toEqual({ 'lookup account case:X': 1, 'refund r case:X': 1 });
    });

    test('makes a call with the arguments that a person gave, and tells the model so', async () => {
      const { handle, workflowId } = await run('approvals');
      await untilWaiting(handle, ['refund-1']);
      await handle.signal(approve, { id: 'refund-1', arguments: { what: `less case:${workflowId}` } });
      await untilWaiting(handle, ['own_refund-1']);
      await handle.signal(approve, { id: 'own_refund-1' });
      expect(await handle.result()).toContain(
        `refund=A person changed the arguments of this call before it was made, to {"what":"less case:${workflowId}"}.\n\nrefunded`,
      );
      expect(bodiesOf(workflowId)).toEqual({
        'lookup account case:X': 1,
        'refund less case:X': 1,
        'own refund o case:X': 1,
      });
      await assertReplays(await chainOf(handle));
    });

    test('is run again with what people say to it meanwhile, in the same conversation', async () => {
      const { handle, workflowId } = await run('hears');
      await scene.provider.waitFor(({ body }) => JSON.stringify(body).includes(workflowId));
      await handle.signal(message, 'this');
      await handle.signal(message, { text: 'that', by: 'ann' });
      expect(await handle.result()).toBe('heard: it,this\n\nthat');
      expect(callsOf(workflowId)).toHaveLength(2);
    });

    test('keeps two runs at once apart', async () => {
      const before = scene.provider.requests.length;
      const runs = await Promise.all([run('steps'), run('steps')]);
      for (const { handle, workflowId } of runs)
        expect(await handle.result()).toBe(`written for case:${workflowId}`);
      expect(scene.provider.requests.length - before).toBe(2 * callsOf(runs[0].workflowId).length);
    });
  });

  test(`${name}: outside a run, an agent just runs`, async () => {
    process.env['OPENAI_BASE_URL'] = process.env['PROVIDER_URL'] = scene.provider.url;
    process.env['OPENAI_API_KEY'] = 'none';
    const agents = (await import(module)) as Record<string, (input: string) => Promise<unknown>>;
    const id = unique('outside');
    expect(await agents['steps']!(`case:${id}`)).toBe(`written for case:${id}`);
    expect(bodiesOf(id)).toEqual({
      'lookup a case:X': 1,
      'lookup b case:X': 1,
      'own c case:X': 1,
      'lookup expert case:X': 1,
      'lookup w case:X': 1,
    });
  });
}
