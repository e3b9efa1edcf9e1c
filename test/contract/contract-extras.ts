/** What an adapter must keep of what not every framework has. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { approve, records } from '../../src/index.ts';
import { assertReplays, chainOf, repeatedSteps, unique } from '../kit/temporal.ts';
import { untilWaiting, untilWaitingOrOver } from '../kit/waiting-runs.ts';
import type { KillAt } from '../kit/workers.ts';
import { type AdapterFixture, contractScene, eachStep, inGroups, someSteps } from './contract-scene.ts';

export function testExtras(fixture: AdapterFixture): void {
  const { name, extras = {}, killSome } = fixture;
  const { crash, spawn, start, bodiesOf, callsOf } = contractScene(fixture);
  const { memory, mcp, streaming } = extras;
  if (memory !== undefined)
    describe(`${name}: a conversation that outlives the run`, () => {
      test.each(inGroups(someSteps(memory)))(
        'is read and written once, killed in its second run at %j',
        async (group) => {
          const heard = async ({ step, when }: KillAt) => {
            const id = unique(`${when}${step}`);
            const worker = await spawn(id, { step: memory + step, when });
            const say = async (what: string) =>
              await start('remembers', id, `case:${id} ${what}`, `${id}-${what}`);
            const answers = [await (await say('one')).result()];
            const second = await say('two');
            await worker.ended;
            const next = await spawn(id);
            answers.push(await second.result(), await (await say('three')).result());
            const done = await second.query(records);
            await assertReplays(await chainOf(second));
            await next.kill();
            return { answers, steps: done.length };
          };
          for (const run of await Promise.all(group.map(heard))) {
            const answers = ['heard: one', 'heard: one,two', 'heard: one,two,three'];
            expect(run).toEqual({ answers, steps: memory });
          }
        },
      );
    });

  if (mcp !== undefined)
    describe(`${name}: tools of an MCP server`, () => {
      let whole: Awaited<ReturnType<typeof crash>>;
      beforeAll(async () => (whole = await crash(undefined, 'shops')));

      test('are called once when nothing happens, and their errors are told', () => {
        expect(whole.outcome.result).toBe('bought: ordered o case:X');
        expect(whole.outcome.records).toHaveLength(mcp);
        expect(whole.bodies).toEqual(
          Object.fromEntries(['find f', 'order o', 'broken b'].map((what) => [`mcp ${what} case:X`, 1])),
        );
      });

      test.each(inGroups(someSteps(mcp)))(
        'are not called again for an answer, killed at %j',
        async (group) => {
          const runs = await Promise.all(group.map(async (kill) => await crash(kill, 'shops')));
          for (const [i, run] of runs.entries()) {
            expect(run.outcome).toEqual(whole.outcome);
            expect(Object.keys(run.bodies).toSorted()).toEqual(Object.keys(whole.bodies).toSorted());
            await assertReplays(run.histories);
            const twice = Object.values(run.bodies).reduce((sum, n) => sum + n - 1, 0);
            expect(twice).toBeLessThanOrEqual(group[i]!.when === 'before' ? 2 : 0);
            await assertReplays(run.histories);
          }
        },
      );
    });

  if (streaming !== undefined)
    describe(`${name}: a stream that waits for a person within an agent that is a tool`, () => {
      const speak = async (kill?: KillAt | 'while it waits') => {
        const id = unique('speaks');
        const first = await spawn(id, typeof kill === 'object' ? kill : undefined);
        const handle = await start('speaks', id);
        const living = { worker: first };
        const replaced = first.ended.then(async () => void (living.worker = await spawn(id)));
        await untilWaiting(handle, ['own_refund-1']);
        expect(Object.keys(bodiesOf(id))).toEqual(['lookup a case:X']);
        if (kill === 'while it waits') {
          await first.kill();
          await replaced;
        }
        await handle.signal(approve, { id: 'own_refund-1' });
        // An approved call whose worker vanished may be asked about again.
        if (typeof kill === 'object') {
          await replaced;
          const again = await untilWaitingOrOver(handle, 'own_refund-2');
          if (again) await handle.signal(approve, { id: 'own_refund-2' });
        }
        const result = JSON.parse(JSON.stringify(await handle.result()).replaceAll(id, 'X')) as unknown;
        if (kill) await replaced;
        const histories = await chainOf(handle);
        await living.worker.kill();
        expect(histories.flatMap((history) => repeatedSteps([history]))).toEqual([]);
        return { result, histories, bodies: bodiesOf(id), calls: callsOf(id).length };
      };
      const said = 'said: settled case:X';

      test('goes on by itself in the same stream', async () => {
        const { result, bodies, calls } = await speak();
        expect(result).toEqual({ text: said, output: said });
        expect(bodies).toEqual({ 'lookup a case:X': 1, 'own refund o case:X': 1 });
        expect(calls).toBe(5);
      });

      const kills = killSome ? someSteps(streaming) : eachStep(streaming);
      test.each([[['while it waits' as const]], ...inGroups<KillAt | 'while it waits'>(kills)])(
        'says the same, and does nothing answered again, killed at %j',
        async (group) => {
          for (const [i, run] of (await Promise.all(group.map(speak))).entries()) {
            const kill = group[i]!;
            expect(run.result).toEqual({ text: said, output: said });
            await assertReplays(run.histories);
            const twice = Object.values(run.bodies).reduce((sum, n) => sum + n - 1, 0) + run.calls - 5;
            expect(twice).toBeLessThanOrEqual(typeof kill === 'object' && kill.when === 'before' ? 1 : 0);
          }
        },
      );
    });
}
