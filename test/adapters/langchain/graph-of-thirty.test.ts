/** A large graph, killed at its steps: it comes to the same, and nothing that was answered is asked or done again. */
import { expect, test } from '@jest/globals';
import { records } from '../../../src/index.ts';
import { type ProviderScript, startScriptedProvider } from '../../../src/testing/index.ts';
import { graph, thirty } from '../../fixtures/graph-of-thirty.ts';
import { scene } from '../../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps } from '../../kit/temporal.ts';
import type { KillAt } from '../../kit/workers.ts';

const soak = Boolean(process.env['TEST_SOAK']);
const turns = 19;
const tools = 8;
const saves = 2;

const script: ProviderScript = ({ instructions, messages }) => {
  const { text } = messages.at(-1)!;
  if (text.startsWith('judge')) return { text: JSON.stringify({ good: text.includes('round 1') }) };
  if (instructions === '') return { text: `re ${text}` };
  const results = messages.flatMap(({ toolResults }) => toolResults.map((each) => each.text));
  return results.length > 0
    ? { text: results.join(' | ') }
    : { toolCalls: ['weigh', 'file'].map((name) => ({ name, arguments: { what: 'the lot' } })) };
};

async function run(kill?: KillAt) {
  await using stage = await scene('graph-of-thirty', { script });
  const env = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: stage.provider.url };
  const worker = await stage.spawn({ env, ...(kill && { kill }) });
  const handle = await stage.start('thirty');
  if (kill) {
    expect(await worker.ended).toMatchObject({ signal: 'SIGKILL' });
    await stage.spawn({ env });
  }
  const said: unknown = await handle.result();
  const done = await handle.query(records);
  const histories = await chainOf(handle);
  await assertReplays(histories);
  return {
    said,
    recorded: ['turn', 'tool', 'step'].map((wanted) => done.filter(({ kind }) => kind === wanted).length),
    repeated: repeatedSteps(histories),
    asked: stage.provider.requests.length,
    bodies: Object.entries(stage.tally()).filter(([what]) => what.startsWith('ran ')),
  };
}

let whole: unknown;

test('a graph of thirty nodes comes in a run to what it comes to without Temporal', async () => {
  expect(Object.keys(graph.nodes).filter((name) => name !== '__start__')).toHaveLength(30);
  const provider = await startScriptedProvider(script);
  Object.assign(process.env, { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: provider.url });
  whole = await thirty();
  await provider.stop();
  expect(await run()).toMatchObject({
    said: whole,
    recorded: [turns, tools, saves],
    repeated: [],
    asked: turns,
    bodies: Array.from({ length: tools + saves }, () => [expect.any(String), 1]),
  });
});

// In the soak before and after each step.
test(
  'killed at its steps it comes to the same, and only what was under way is asked or done again',
  async () => {
    const all = Array.from({ length: turns + tools + saves - 1 }, (_, i) => i + 1);
    const kills = soak
      ? all.flatMap((step): KillAt[] => [
          { step, when: 'before' },
          { step, when: 'after' },
        ])
      : [2, 9, 14, 26].map((step): KillAt => ({ step, when: 'after' }));
    for (let i = 0; i < kills.length; i += 4) {
      const killed = await Promise.all(
        kills.slice(i, i + 4).map(async (kill) => [kill, await run(kill)] as const),
      );
      for (const [kill, { said, recorded, repeated, asked, bodies }] of killed) {
        expect({ kill, said, recorded, repeated }).toEqual({
          kill,
          said: whole,
          recorded: [turns, tools, saves],
          repeated: [],
        });
        expect(bodies).toHaveLength(tools + saves);
        const again = asked - turns + bodies.reduce((sum, [, times]) => sum + times - 1, 0);
        // At most three branches, one of which asks thrice at once, and the step that was to be answered.
        expect({ kill, again: again <= (kill.when === 'after' ? 4 : 5) }).toEqual({ kill, again: true });
      }
    }
  },
  soak ? 1_800_000 : 120_000,
);
