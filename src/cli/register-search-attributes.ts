import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Command } from 'commander';
import {
  AGENT_NAME,
  AGENT_WAITING,
  INDEXED_VALUE_TYPES,
  SEARCH_ATTRIBUTES,
  TYPE_NAMES,
} from '../protocol/search-attributes.ts';
import { say } from './say.ts';
import { connected, type ServerOptions, withServer } from './server.ts';

/** How long the parts of a server may take to know what one of them added, in milliseconds. */
const SPREADS_WITHIN = 30_000;

/** `temporal-agents register-search-attributes`: adds those that runs set to a namespace. */
export function registerSearchAttributesCommand(): Command {
  const command = new Command('register-search-attributes').description(
    'Adds the search attributes that runs set to a namespace, as far as it lacks them.',
  );
  return withServer(command).action(async (options: ServerOptions) => await connected(options, register));
}

async function register(client: Client): Promise<void> {
  const { namespace } = client.options;
  const { operatorService } = client.connection;
  const there = await asOperator(
    client,
    async () => (await operatorService.listSearchAttributes({ namespace })).customAttributes ?? {},
  );
  const others = SEARCH_ATTRIBUTES.filter(
    ({ name, type }) => name in there && Number(there[name]) !== INDEXED_VALUE_TYPES[type],
  );
  if (others.length > 0) {
    const named = others.map(({ name, type }) => `${name} is not of type ${TYPE_NAMES[type]}`).join(', ');
    throw new Error(
      `Cannot add search attributes to namespace ${namespace}: ${named}. Rename or remove what is there; nothing was added.`,
    );
  }
  const missing = SEARCH_ATTRIBUTES.filter(({ name }) => !(name in there));
  if (missing.length > 0) {
    const searchAttributes = Object.fromEntries(
      missing.map(({ name, type }) => [name, INDEXED_VALUE_TYPES[type]]),
    );
    await asOperator(
      client,
      async () => await operatorService.addSearchAttributes({ namespace, searchAttributes }),
    );
    await untilKnown(client);
  }
  for (const attribute of SEARCH_ATTRIBUTES) {
    const how = missing.includes(attribute) ? 'added' : 'was there';
    say(`${attribute.name} ${TYPE_NAMES[attribute.type]}: ${how}\n`);
  }
  if (missing.length > 0)
    say('Workers that run notice within a minute; runs that began before are not found by them.\n');
}

/** Not every server lets a client do this. */
async function asOperator<T>(client: Client, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const { namespace } = client.options;
    const { code, details, message } = error as Error & { code?: number; details?: string };
    const said = (details || message).replace(/\.$/, '');
    // No such namespace.
    if (code === 5) throw new Error(`Cannot add search attributes: ${said}.`, { cause: error });
    const all = SEARCH_ATTRIBUTES.map(({ name, type }) => `--search-attribute ${name}=${TYPE_NAMES[type]}`);
    throw new Error(
      `Cannot add search attributes to namespace ${namespace}: ${said}. Have somebody do it who may; on Temporal Cloud: tcld namespace search-attributes add --namespace ${namespace} ${all.join(' ')}`,
      { cause: error },
    );
  }
}

/** Another part of the server, which would refuse a run's task, learns of it some time later. */
async function untilKnown(client: Client): Promise<void> {
  const query = `${AGENT_NAME.name} = 'a' AND ${AGENT_WAITING.name} = 'a'`;
  for (const end = Date.now() + SPREADS_WITHIN; ; await delay(200)) {
    try {
      await client.workflow.count(query);
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
