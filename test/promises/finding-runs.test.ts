/** Runs are found in lists by what they cost and whom they wait for, where the server has the search attributes. */
import { beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { answer, approve, waiting } from '../../src/index.ts';
import {
  AGENT_AUDIENCE,
  AGENT_COST_USD,
  AGENT_NAME,
  AGENT_TOKENS,
  AGENT_WAITING,
  INDEXED_VALUE_TYPES,
} from '../../src/protocol/search-attributes.ts';
import type { ProviderScript } from '../../src/testing/index.ts';
import { command } from '../kit/command.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, client, eventsOf, newNamespace, until } from '../kit/temporal.ts';

const script: ProviderScript = () => ({ text: 'ok', usage: { inputTokens: 1_000, outputTokens: 100 } });
/** Of a turn of gpt-4.1. */
const USD = (1_000 * 2 + 100 * 8) / 1_000_000;

let namespace: string;
beforeAll(async () => {
  namespace = await newNamespace();
  await command('register-search-attributes', '--namespace', namespace);
}, 60_000);

const found = async (query: string) => {
  const ids: string[] = [];
  for await (const { workflowId } of (await client(namespace)).workflow.list({ query })) ids.push(workflowId);
  return ids;
};
const finds = async (query: string, ...ids: string[]) =>
  await until(
    async () => JSON.stringify((await found(query)).toSorted()) === JSON.stringify(ids.toSorted()),
    query,
  );
const upserts = async (handle: WorkflowHandle) =>
  eventsOf(await chainOf(handle), 'upsertWorkflowSearchAttributes').length;

test('where the server has none, runs do as they always did', async () => {
  const bare = await newNamespace();
  await using stage = await scene('found-agents', { script, namespace: bare });
  await stage.spawn();
  const handle = await stage.start('explorer', 'Mars');
  await handle.result();
  const histories = await chainOf(handle);
  expect(eventsOf(histories, 'upsertWorkflowSearchAttributes')).toEqual([]);
  expect(eventsOf(histories, 'workflowTaskFailed')).toEqual([]);
});

test('the command adds what is missing, and says what was there', async () => {
  const fresh = await newNamespace();
  const { operatorService } = (await client()).connection;
  const addKeyword = async (name: string) =>
    await operatorService.addSearchAttributes({
      namespace: fresh,
      searchAttributes: Object.fromEntries([[name, INDEXED_VALUE_TYPES.KEYWORD]]),
    });
  await addKeyword(AGENT_TOKENS.name);
  const register = async () => await command('register-search-attributes', '--namespace', fresh);
  expect(await register()).toEqual({
    code: 1,
    stdout: '',
    stderr: `Cannot add search attributes to namespace ${fresh}: AgentTokens is not of type Int. Rename or remove what is there; nothing was added.\n`,
  });
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace: fresh });
  expect(Object.keys(customAttributes).filter((name) => name.startsWith('Agent'))).toEqual(['AgentTokens']);
  await operatorService.removeSearchAttributes({ namespace: fresh, searchAttributes: [AGENT_TOKENS.name] });
  await addKeyword(AGENT_NAME.name);
  const lines = (how: string) =>
    `AgentName Keyword: was there\nAgentCostUsd Double: ${how}\nAgentTokens Int: ${how}\nAgentWaiting KeywordList: ${how}\nAgentAudience KeywordList: ${how}\n`;
  expect(await register()).toEqual({
    code: 0,
    stderr: '',
    stdout: `${lines('added')}Workers that run notice within a minute; runs that began before are not found by them.\n`,
  });
  expect(await register()).toEqual({ code: 0, stderr: '', stdout: lines('was there') });
  expect(await command('register-search-attributes', '--namespace', 'nowhere')).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Cannot add search attributes: .*nowhere.*\n$/),
  });
});

test('by name and cost, a parent with all below it', async () => {
  await using stage = await scene('found-agents', { script, namespace });
  await stage.spawn();
  const handle = await stage.start('explorer', 'Mars');
  await handle.result();
  await finds(
    `AgentName = 'explorer' AND AgentCostUsd > ${6.5 * USD} AND AgentTokens = 7700`,
    handle.workflowId,
  );
  const { typedSearchAttributes } = await handle.describe();
  expect(typedSearchAttributes.get(AGENT_COST_USD)).toBeCloseTo(7 * USD, 9);
  expect(await found(`AgentName = 'scout' AND AgentTokens = 2200`)).toHaveLength(2);
  await finds(`AgentName IN ('explorer', 'scout') AND ParentWorkflowId IS NULL`, handle.workflowId);
  // At its start, and at its end.
  expect(await upserts(handle)).toBe(2);
  await assertReplays(await chainOf(handle));
});

test('by whom it waits for, in a child too, until that is decided', async () => {
  await using stage = await scene('found-agents', { script, namespace });
  await stage.spawn();
  const handle = await stage.start('employer', 7);
  const [child] = await until(async () => {
    const { approvals } = await handle.query(waiting);
    return approvals.length > 0 && approvals.map(({ workflowId }) => workflowId!);
  }, 'the approval');
  await finds(`AgentWaiting = 'approval'`, handle.workflowId, child!);
  await finds(`AgentAudience = 'finance' AND AgentName = 'employer'`, handle.workflowId);
  await finds(`AgentWaiting = 'escalated' OR AgentWaiting = 'question'`);
  await handle.signal(approve, { id: 'payer-1/pay-1' });
  await handle.result();
  await finds(`AgentWaiting = 'approval' OR AgentAudience = 'finance'`);
  await finds(`AgentName IN ('employer', 'payer') AND AgentWaiting IS NULL`, handle.workflowId, child!);
  // At its start, when the child waited, when that was decided, and at its end.
  expect(await upserts(handle)).toBe(4);
  const below = (await client(namespace)).workflow.getHandle(child!);
  expect(await upserts(below)).toBe(4);
  await assertReplays([...(await chainOf(handle)), ...(await chainOf(below))]);
});

test('by what is late, and by what is asked next, over a kill', async () => {
  await using stage = await scene('found-agents', { script, namespace });
  const first = await stage.spawn();
  const handle = await stage.start('latePayer', 7);
  await finds(`AgentWaiting = 'escalated' AND AgentAudience = 'head of finance'`, handle.workflowId);
  expect((await handle.query(waiting)).approvals).toMatchObject([{ id: 'pay_late-1', escalated: true }]);
  await finds(`AgentAudience = 'finance'`);
  await first.kill();
  await handle.signal(approve, { id: 'pay_late-1' });
  await stage.spawn();
  await finds(`AgentWaiting = 'question' AND AgentAudience = 'support'`, handle.workflowId);
  await finds(`AgentWaiting = 'approval' OR AgentWaiting = 'escalated'`);
  await handle.signal(answer, { value: 'fine' });
  await handle.result();
  await finds(`AgentWaiting = 'question'`);
  const { typedSearchAttributes } = await handle.describe();
  expect([AGENT_WAITING, AGENT_AUDIENCE].map((key) => typedSearchAttributes.get(key))).toEqual([
    undefined,
    undefined,
  ]);
  await assertReplays(await chainOf(handle));
});

test('a long run tells what it has spent every 20 turns, and as it ends', async () => {
  await using stage = await scene('found-agents', { script, namespace });
  await stage.spawn();
  const handle = await stage.start('chat', { id: 'long', turns: 45 });
  await handle.result();
  const told = eventsOf(await chainOf(handle), 'upsertWorkflowSearchAttributes').map((event) => {
    const { searchAttributes } = event.upsertWorkflowSearchAttributesEventAttributes!;
    return Number(Buffer.from(searchAttributes!.indexedFields![AGENT_TOKENS.name]!.data!).toString());
  });
  expect(told).toEqual([0, 20, 40, 45].map((turns) => turns * 1_100));
  await finds(`AgentName = 'chat' AND AgentTokens = ${45 * 1_100}`, handle.workflowId);
  await assertReplays(await chainOf(handle));
});

test('a run that goes on as a new one keeps them, and tells only what has changed', async () => {
  await using stage = await scene('found-agents', { script, namespace, plugin: { continueAfterRecords: 8 } });
  await stage.spawn();
  const handle = await stage.start('chat', { id: 'many', turns: 12 });
  await handle.result();
  const histories = await chainOf(handle);
  expect(histories.length).toBeGreaterThan(2);
  // Each as it goes on or ends, and the first at its start.
  expect(eventsOf(histories, 'upsertWorkflowSearchAttributes')).toHaveLength(histories.length + 1);
  await finds(`AgentName = 'chat' AND AgentTokens = ${12 * 1_100}`, handle.workflowId);
  await assertReplays(histories);
});

test('a run goes on without them when the server turns out to have them no more', async () => {
  const fickle = await newNamespace();
  await command('register-search-attributes', '--namespace', fickle);
  await using stage = await scene('found-agents', { script, namespace: fickle });
  await stage.spawn();
  const before = await stage.start('scout', 'Mars');
  await before.result();
  expect(eventsOf(await chainOf(before), 'upsertWorkflowSearchAttributes')).toHaveLength(2);
  const { operatorService } = (await client()).connection;
  await operatorService.removeSearchAttributes({ namespace: fickle, searchAttributes: [AGENT_NAME.name] });
  // The worker has seen it, and some part of the server may still know it.
  const { workflow } = await client(fickle);
  await until(
    async () =>
      await workflow.count(`AgentName = 'a'`).then(
        () => false,
        () => true,
      ),
    'its end',
  );
  const after = await stage.start('scout', 'Venus');
  expect(await after.result()).toHaveLength(3);
  const histories = await chainOf(after);
  expect(eventsOf(histories, 'workflowTaskFailed')).toHaveLength(1);
  expect(eventsOf(histories, 'upsertWorkflowSearchAttributes')).toEqual([]);
  await assertReplays(histories);
  const next = await stage.start('scout', 'Io');
  await next.result();
  const later = await chainOf(next);
  expect(eventsOf(later, 'workflowTaskFailed')).toEqual([]);
  // Of the others, as it ends.
  expect(eventsOf(later, 'upsertWorkflowSearchAttributes')).toHaveLength(1);
});
