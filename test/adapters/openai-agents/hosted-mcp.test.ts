/** Tools of an MCP server that the provider calls, once a person has approved. */
import { expect, test } from '@jest/globals';
import { approve, reject } from '../../../src/index.ts';
import { scene } from '../../kit/scene.ts';
import { assertReplays, chainOf } from '../../kit/temporal.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';

/** Asks for approval, and says what it was told. */
async function shopping() {
  return await scene('hosted-agents', {
    env: { OPENAI_API_KEY: 'none' },
    script: ({ body }) => {
      const items = [body['input']].flat() as { type?: string; approve?: boolean }[];
      const answer = items.find(({ type }) => type === 'mcp_approval_response');
      if (answer) return { text: answer.approve ? 'ordered' : 'not ordered' };
      const request = {
        type: 'mcp_approval_request',
        server_label: 'shop',
        name: 'order',
        arguments: '{"n":2}',
      };
      return { items: [{ ...request, id: 'mcpr_1' }] };
    },
  });
}

test.each([
  ['approves', 'ordered'],
  ['rejects', 'not ordered'],
])('a call that a person %s, over a kill while it waits', async (what, said) => {
  await using stage = await shopping();
  const env = { OPENAI_BASE_URL: stage.provider.url };
  const first = await stage.spawn({ env });
  const handle = await stage.start('hosted', 'two, please');
  const [pending] = await untilWaiting(handle, ['order-1']);
  expect(pending).toMatchObject({ name: 'order', input: { n: 2 } });
  await first.kill();
  await stage.spawn({ env });
  await handle.signal(what === 'approves' ? approve : reject, { id: 'order-1' });
  expect(await handle.result()).toBe(said);
  expect(stage.provider.requests).toHaveLength(2);
  await assertReplays(await chainOf(handle));
});
