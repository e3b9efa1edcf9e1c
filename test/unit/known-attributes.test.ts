import { expect, test } from '@jest/globals';
import { knownAttributes } from '../../src/loop/known-attributes.ts';
import type { RunContact } from '../../src/loop/workflow-task.ts';

const ALL = { AgentName: 2, AgentCostUsd: 4, AgentTokens: 3, AgentWaiting: 7, AgentAudience: 7 };
const MINUTE = 60_000;

/** A server that has what `has` says, or fails as it does; with how often it was asked. */
function serverWith(has: () => Record<string, number>) {
  const server = { asked: 0, contact: (namespace = 'default') => contactTo(namespace) };
  const connection = {
    withDeadline: async (_at: number, call: () => Promise<unknown>) => await call(),
    operatorService: {
      listSearchAttributes: async () => {
        server.asked++;
        return { customAttributes: has() };
      },
    },
  };
  const contactTo = (namespace: string) =>
    ({ client: { connection, options: { namespace } } }) as unknown as RunContact;
  return server;
}

test('a server is asked once for all runs of a namespace', async () => {
  const server = serverWith(() => ALL);
  const both = await Promise.all([
    knownAttributes(server.contact(), 1, 0),
    knownAttributes(server.contact(), 1, 0),
  ]);
  expect(both).toEqual([Object.keys(ALL), Object.keys(ALL)]);
  await knownAttributes(server.contact(), 1, 100 * MINUTE);
  expect(server.asked).toBe(1);
  await knownAttributes(server.contact('other'), 1, 0);
  expect(server.asked).toBe(2);
});

test('what is missing, or of another type, is looked for again a minute later', async () => {
  let has: Record<string, number> = { AgentName: 2, AgentTokens: 2 };
  const server = serverWith(() => has);
  expect(await knownAttributes(server.contact(), 1, 0)).toEqual(['AgentName']);
  has = ALL;
  expect(await knownAttributes(server.contact(), 1, MINUTE - 1)).toEqual(['AgentName']);
  const both = await Promise.all([1, 2].map(async () => await knownAttributes(server.contact(), 1, MINUTE)));
  expect(both).toEqual([Object.keys(ALL), Object.keys(ALL)]);
  expect(server.asked).toBe(2);
});

test('a server that cannot be asked has none', async () => {
  const server = serverWith(() => {
    throw new Error('not permitted');
  });
  expect(await knownAttributes(server.contact(), 1, 0)).toEqual([]);
  expect(await knownAttributes(server.contact(), 1, 1)).toEqual([]);
  expect(server.asked).toBe(1);
  expect(await knownAttributes({ client: {} } as RunContact, 1)).toEqual([]);
});
