/** Pictures and long chats: what is large goes through the run by reference, and to the provider as it is. */
import { expect, test } from '@jest/globals';
import { digest } from '../../../src/loop/fingerprint.ts';
import { picture } from '../../fixtures/picture-agents.ts';
import { blobScene } from '../../kit/blob-scene.ts';
import { chainOf, historyBytes, repeatedSteps, until } from '../../kit/temporal.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const photo = `data:image/png;base64,${base64(picture(400_000))}`;
const drawing = base64(picture(300_000).toReversed());

test('a picture of a tool reaches the provider in each later turn, and one of the model the agent, bytes equal, killed on the way, one blob each', async () => {
  await using stage = await blobScene('picture-agents', {
    env: { OPENAI_API_KEY: 'none' },
    script: ({ messages }) => {
      const results = messages.flatMap(({ toolResults }) => toolResults).length;
      if (results === 0) return { toolCalls: [{ name: 'photo', arguments: {} }] };
      const item = { type: 'image_generation_call', status: 'completed', result: drawing };
      if (results === 1) return { items: [item], toolCalls: [{ name: 'look', arguments: { at: 1 } }] };
      if (results < 6) return { toolCalls: [{ name: 'look', arguments: { at: results } }] };
      return { text: 'done' };
    },
  });
  const first = await stage.spawn({
    kill: { step: 9, when: 'before' },
    env: { OPENAI_BASE_URL: stage.provider.url },
  });
  const handle = await stage.start('pictures', 'look');
  await first.ended;
  await stage.spawn({ env: { OPENAI_BASE_URL: stage.provider.url } });
  expect(await handle.result()).toEqual({ text: 'done', drawn: [digest(drawing)] });
  expect(stage.tally()).toEqual({ killed: 1, photo: 1 });
  const bodies = stage.provider.requests.map(({ body }) => JSON.stringify(body));
  expect(bodies.map((body) => body.split(photo).length - 1)).toEqual(bodies.map((_, i) => Math.min(i, 1)));
  // The turn that was asked as the worker died was asked again, with the same.
  expect(bodies).toHaveLength(8);
  expect(await stage.kept()).toHaveLength(2);
  expect(await historyBytes(handle)).toBeLessThan(60_000);
  expect(repeatedSteps(await chainOf(handle))).toEqual([]);
});

test('a chat of 200,000 tokens with 100 tool calls of 5 KB leaves less than 5 MB of history', async () => {
  await using stage = await blobScene('picture-agents', {
    env: { OPENAI_API_KEY: 'none' },
    script: ({ messages }) => {
      const n = messages.filter(({ role }) => role === 'tool').length;
      if (n === 100) return { text: 'read' };
      return { text: 'I think. '.repeat(350), toolCalls: [{ name: 'page', arguments: { n } }] };
    },
  });
  await stage.spawn({ env: { OPENAI_BASE_URL: stage.provider.url } });
  const handle = await stage.start('reader', 'read');
  expect(await handle.result()).toBe('read');
  const last = stage.provider.requests.at(-1)!;
  expect(stage.provider.requests).toHaveLength(101);
  expect(JSON.stringify(last.body).length / 4).toBeGreaterThan(200_000);
  let bytes = 0;
  for (const history of await chainOf(handle)) {
    const { workflowExecutionStartedEventAttributes: started } = history.events![0]!;
    const run = stage.client.workflow.getHandle(handle.workflowId, started!.originalExecutionRunId!);
    bytes += await historyBytes(run);
  }
  process.stdout.write(`100 tool calls of 5 KB: ${bytes} bytes of history\n`);
  expect(bytes).toBeLessThan(5_000_000);
  await until(() => Object.keys(stage.tally()).length === 100, 'each page once');
});
