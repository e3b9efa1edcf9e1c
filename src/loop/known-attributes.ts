import type { Client } from '@temporalio/client';
import { INDEXED_VALUE_TYPES, SEARCH_ATTRIBUTES } from '../protocol/search-attributes.ts';
import { refusedAttributes, type RunContact } from './workflow-task.ts';

/** How long the server is given to answer, and how long an answer that lacks some stands. Milliseconds. */
const PATIENCE = 2_000;
const LOOK_AGAIN_AFTER = 60_000;

interface Look {
  at: number;
  names: Promise<string[]>;
}

/** What was seen, by connection and namespace: one look serves all loops of the process. */
const looks = new WeakMap<object, Map<string, Look>>();

/**
 * Which of the runs' search attributes the server has, with the right type. To set another one would fail the workflow task
 * for ever, so a server that cannot be asked has none, and none are set after it refused them.
 * @param attempt of the run's present task
 */
export async function knownAttributes(
  contact: RunContact,
  attempt: number,
  now = Date.now(),
): Promise<string[]> {
  try {
    const { client } = contact;
    const { connection } = client;
    const { namespace } = client.options;
    if (attempt > 1 && (await refusedAttributes(contact))) {
      looks.get(connection)?.delete(namespace);
      return [];
    }
    const seen = looks.get(connection) ?? new Map<string, Look>();
    looks.set(connection, seen);
    const before = seen.get(namespace);
    if (before) {
      const names = await before.names;
      if (names.length === SEARCH_ATTRIBUTES.length || now - before.at < LOOK_AGAIN_AFTER) return names;
    }
    // Others may have looked meanwhile.
    const present = seen.get(namespace);
    if (present && present !== before) return await present.names;
    const names = look(client).catch(() => []);
    seen.set(namespace, { at: now, names });
    return await names;
  } catch {
    return [];
  }
}

async function look({ connection, options: { namespace } }: Client): Promise<string[]> {
  const { customAttributes } = await connection.withDeadline(
    Date.now() + PATIENCE,
    async () => await connection.operatorService.listSearchAttributes({ namespace }),
  );
  return SEARCH_ATTRIBUTES.filter(
    ({ name, type }) => Number(customAttributes[name]) === INDEXED_VALUE_TYPES[type],
  ).map(({ name }) => name);
}
