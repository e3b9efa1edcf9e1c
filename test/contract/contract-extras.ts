/** What an adapter must keep of what not every framework has. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { answer, approve, records } from '../../src/index.ts';
import { assertReplays, chainOf, repeatedSteps, unique } from '../kit/temporal.ts';
import { untilAsked, untilWaiting, untilWaitingOrOver } from '../kit/waiting-runs.ts';
import type { KillAt } from '../kit/workers.ts';
import { type AdapterFixture, contractScene, inGroups, kills } from './contract-scene.ts';

export function testExtras(fixture: AdapterFixture): void {
  const { name, killFew, extras = {} } = fixture;
  const { crash, spawn, start, bodiesOf, callsOf } = contractScene(fixture);
  const { memory, mcp, streaming, structured, siblings, questions } = extras;
  if (memory !== undefined)
    describe(`${name}: a conversation that outlives the run`, () => {
      test.each(inGroups(kills(memory, killFew)))(
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

      // The last but one is an error, which is no answer to be killed at where the framework throws it.
      test.each(inGroups(kills(mcp - 1, killFew)))(
        'are not called again for an answer, killed at %j',
        async (group) => {
          const runs = await Promise.all(group.map(async (kill) => await crash(kill, 'shops')));
          for (const [i, run] of runs.entries()) {
            expect(run.outcome).toEqual(whole.outcome);
            expect(Object.keys(run.bodies).toSorted()).toEqual(Object.keys(whole.bodies).toSorted());
            expect(run.histories.flatMap((history) => repeatedSteps([history]))).toEqual([]);
            const twice = Object.values(run.bodies).reduce((sum, n) => sum + n - 1, 0);
            // Two calls are made at once: the other one may be under way.
            expect(twice).toBeLessThanOrEqual(group[i]!.when === 'before' ? 2 : 1);
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

      test.each([
        [['while it waits' as const]],
        ...inGroups<KillAt | 'while it waits'>(kills(streaming, killFew)),
      ])('says the same, and does nothing answered again, killed at %j', async (group) => {
        for (const [i, run] of (await Promise.all(group.map(speak))).entries()) {
          const kill = group[i]!;
          expect(run.result).toEqual({ text: said, output: said });
          await assertReplays(run.histories);
          const twice = Object.values(run.bodies).reduce((sum, n) => sum + n - 1, 0) + run.calls - 5;
          expect(twice).toBeLessThanOrEqual(typeof kill === 'object' && kill.when === 'before' ? 1 : 0);
        }
      });
    });

  if (structured)
    test(`${name}: an answer with a structure is recorded as it is`, async () => {
      const { outcome, calls } = await crash(undefined, 'structured');
      expect(outcome.result).toEqual({ city: 'Paris', degrees: 21 });
      expect(calls).toEqual([1]);
    });

  if (siblings !== undefined)
    describe(`${name}: two agents at once that are asked the same`, () => {
      test.each(inGroups<KillAt | undefined>([undefined, ...kills(siblings, killFew)]))(
        'have their own answers each, and keep them, killed at %j',
        async (group) => {
          const runs = await Promise.all(group.map(async (kill) => await crash(kill, 'siblings')));
          for (const [i, { outcome, histories, bodies }] of runs.entries()) {
            const said = outcome.result as string[];
            expect(new Set(said).size).toBe(2);
            // Each loop says again what each of the two said.
            const heard = Object.keys(bodies).filter((what) => /^\d /.test(what));
            expect(heard.toSorted()).toEqual(said.map((what, number) => `${number} ${what}`));
            expect(outcome.records).toHaveLength(siblings);
            expect(histories.flatMap((history) => repeatedSteps([history]))).toEqual([]);
            const twice = Object.entries(bodies).filter(([what, n]) => !heard.includes(what) && n > 1);
            expect(twice.length).toBeLessThanOrEqual(group[i]?.when === 'before' ? 2 : 0);
            await assertReplays(histories);
          }
        },
      );
    });

  if (questions)
    describe(`${name}: three questions at once`, () => {
      const ask = async (kill?: true) => {
        const id = unique('asks');
        const worker = await spawn(id);
        const handle = await start('asks', id);
        const ids = ['interrupt-1', 'interrupt-2', 'interrupt-3'];
        const asked = await untilAsked(handle, ids);
        const next = kill && (await worker.kill(), await spawn(id));
        for (const question of asked.toReversed())
          await handle.signal(answer, { id: question.id, value: `to ${question.prompt}` });
        expect(await handle.result()).toEqual(['to first?', 'to second?', 'to third?']);
        expect(bodiesOf(id)).toEqual({ 'lookup before case:X': 1 });
        await assertReplays(await chainOf(handle));
        await (next ?? worker).kill();
      };
      test('have their own answers each, given in reverse, and what was done before is done once', async () => {
        await ask();
      });
      test('also if the worker is killed while they wait', async () => await ask(true));
    });
}
