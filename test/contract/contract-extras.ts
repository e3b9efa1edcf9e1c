/** What an adapter must keep of what not every framework has. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { records } from '../../src/index.ts';
import { assertReplays, chainOf, unique } from '../kit/temporal.ts';
import type { KillAt } from '../kit/workers.ts';
import { type AdapterFixture, contractScene, eachStep, inGroups } from './contract-scene.ts';

export function testExtras({ name, module, extras = {} }: AdapterFixture): void {
  const { crash, spawn, start } = contractScene(module);
  const { memory, mcp } = extras;
  if (memory !== undefined)
    describe(`${name}: a conversation that outlives the run`, () => {
      test.each(inGroups(eachStep(memory)))(
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

      test.each(inGroups(eachStep(mcp)))(
        'are not called again for an answer, killed at %j',
        async (group) => {
          const runs = await Promise.all(group.map(async (kill) => await crash(kill, 'shops')));
          for (const [i, run] of runs.entries()) {
            expect(run.outcome).toEqual(whole.outcome);
            expect(Object.keys(run.bodies).toSorted()).toEqual(Object.keys(whole.bodies).toSorted());
            const twice = Object.values(run.bodies).reduce((sum, n) => sum + n - 1, 0);
            expect(twice).toBeLessThanOrEqual(group[i]!.when === 'before' ? 2 : 0);
            await assertReplays(run.histories);
          }
        },
      );
    });
}
