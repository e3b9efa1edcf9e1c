import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowFailedError, WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { startScriptedProvider, type ScriptedProvider } from '../../src/testing/index.ts';
import * as agents from '../fixtures/error-agents.ts';
import { newEffects, tally } from '../kit/effects.ts';
import { client, eventsOf, unique, until } from '../kit/temporal.ts';
import { type LocalWorker, QUICK_START, spawnWorker, startWorker } from '../kit/workers.ts';

async function failureOf(handle: WorkflowHandle): Promise<ApplicationFailure> {
  const error = (await handle.result().then(
    (result: unknown) => ({ cause: { message: `It succeeded: ${JSON.stringify(result)}` } }),
    (failed: WorkflowFailedError) => failed,
  )) as WorkflowFailedError;
  return error.cause as ApplicationFailure;
}

describe('an agent that no worker has', () => {
  test('fails its run, typed, after the time that was declared, and not before', async () => {
    const taskQueue = unique('ghost');
    const worker = await startWorker({
      taskQueue,
      plugin: { tools: [], agents: [agents.strict], agentMissingTimeout: '3s' },
    });
    const { workflow } = await client();
    const handle = await workflow.start('ghost', { taskQueue, workflowId: taskQueue, ...QUICK_START });
    expect(await failureOf(handle)).toMatchObject({
      type: 'AgentNotFoundError',
      message: expect.stringContaining('Cannot run agent "ghost"'),
      nonRetryable: true,
    });
    const { startTime, closeTime } = await handle.describe();
    expect(closeTime!.getTime() - startTime.getTime()).toBeGreaterThanOrEqual(3_000);
    await worker.stop();
  });

  test('waits for the worker that has it, in a rolling deploy', async () => {
    const taskQueue = unique('rolling');
    const old = await startWorker({ taskQueue, plugin: { tools: [], agents: [agents.gives] } });
    const { workflow } = await client();
    const options = { taskQueue, workflowId: taskQueue, args: [{ n: 8 }] as [{ n: number }], ...QUICK_START };
    const handle = await workflow.start(agents.strict, options);
    const refused = await until(
      async () => eventsOf([await handle.fetchHistory()], 'workflowTaskFailed')[0],
      'the old worker refused it',
    );
    expect(refused.workflowTaskFailedEventAttributes!.failure!.message).toContain('no agent named "strict"');
    const next = await spawnWorker({
      taskQueue,
      module: new URL('../fixtures/error-agents.ts', import.meta.url).href,
    });
    expect(await handle.result()).toEqual({ half: 4 });
    await old.stop();
    await next.kill();
  });
});

describe('a run', () => {
  let worker: LocalWorker;
  let provider: ScriptedProvider;
  const taskQueue = unique('errors');
  const asked = (prompt: string) => provider.count(({ body }) => body['input'] === prompt);
  const start = async (name: string, input?: unknown): Promise<WorkflowHandle> => {
    const { workflow } = await client();
    return await workflow.start(name, { taskQueue, workflowId: unique(name), args: [input] });
  };

  beforeAll(async () => {
    newEffects();
    provider = await startScriptedProvider(({ messages }) => ({ text: `answer ${messages.at(-1)!.text}` }));
    process.env['PROVIDER_URL'] = provider.url;
    const known = Object.values(agents).filter(
      (value) => typeof value === 'function' && 'agentName' in value,
    );
    worker = await startWorker({ taskQueue, plugin: { tools: [], agents: known } });
  });
  afterAll(async () => {
    await worker.stop();
    await provider.stop();
  });

  test('whose agent throws is started again twice, pays for no turn again, and fails with the class of the error', async () => {
    const handle = await start('alwaysFails');
    const failure = await failureOf(handle);
    expect(failure).toMatchObject({ type: 'OutOfPaperError', message: 'No paper.', nonRetryable: true });
    expect(failure.details).toEqual([{ code: 'paper', status: 507 }]);
    expect(tally()['ran alwaysFails']).toBe(3);
    expect(asked('for alwaysFails')).toBe(1);
  });

  test('whose agent throws only at first is the better for it', async () => {
    expect(await (await start('failsTwice')).result()).toBe('answer for failsTwice');
    expect(tally()['ran failsTwice']).toBe(3);
    expect(asked('for failsTwice')).toBe(1);
  });

  test.each([
    ['has no retries', 'neverTriedAgain', { type: 'TypeError', message: 'x' }],
    ['says that it is final', 'sureOfIt', { type: 'Closed', message: 'Closed for good.' }],
    ['throws a text of 3 MB', 'verbose', { type: 'Error', message: `${'x'.repeat(8_000)}…` }],
  ])('whose agent %s fails at once', async (_, name, failure) => {
    expect(await failureOf(await start(name))).toMatchObject(failure);
    expect(tally()[`ran ${name}`]).toBe(1);
    expect(asked(`for ${name}`)).toBe(1);
  });

  test('with input or output that does not fit its schema fails, typed, and at once', async () => {
    expect(await (await start('strict', { n: 8 })).result()).toEqual({ half: 4 });
    const input = await failureOf(await start('strict', { n: 'eight' }));
    expect(input).toMatchObject({
      type: 'AgentInputError',
      message: expect.stringMatching(/^The input of agent strict does not fit: n: /),
    });
    expect(tally()['ran strict eight']).toBeUndefined();
    const output = await failureOf(await start('strict', { n: 0 }));
    expect(output).toMatchObject({
      type: 'AgentOutputError',
      message: expect.stringMatching(/^The output of agent strict does not fit: /),
    });
    expect(tally()['ran strict 0']).toBe(1);
  });

  test('of a child is held to its schemas at its border', async () => {
    const good = await start('asksStrict', { n: 6 });
    expect(await good.result()).toEqual({ half: 3 });
    const bad = await start('asksStrict', { n: 'six' });
    expect(await bad.result()).toEqual({
      error: {
        class: 'AgentInputError',
        name: 'AgentInputError',
        message: expect.stringContaining('The input of agent strict does not fit: n: '),
      },
    });
    expect(eventsOf([await bad.fetchHistory()], 'startChildWorkflowExecutionInitiated')).toHaveLength(0);
    expect(await (await start('asksStrict', { n: 0 })).result()).toEqual({
      error: {
        class: 'AgentOutputError',
        name: 'AgentOutputError',
        message: expect.stringContaining('The output of agent strict does not fit: '),
      },
    });
  });

  test('with an output that cannot be kept fails by its path or size, alone and as a child', async () => {
    const large = {
      name: 'PayloadTooLargeError',
      message:
        'The output of agent gives has 3000002 bytes; the limit for one payload is 2080768. Give "blobs" to AgentsPlugin, and larger ones are kept there.',
    };
    const bigint = { name: 'NotRecordableError', message: expect.stringContaining('"total[0]" is a bigint') };
    expect(await failureOf(await start('gives', 'large'))).toMatchObject({
      type: large.name,
      message: large.message,
    });
    expect(await failureOf(await start('gives', 'bigint'))).toMatchObject({
      type: bigint.name,
      message: bigint.message,
    });
    expect(await (await start('asksForMuch', 'large')).result()).toEqual({
      error: { class: large.name, ...large },
    });
    expect(await (await start('asksForMuch', 'bigint')).result()).toEqual({
      error: { class: bigint.name, ...bigint },
    });
    expect(tally()).toMatchObject({ 'ran gives large': 2, 'ran gives bigint': 2 });
  });

  test('gives an output of almost 2 MB, alone and as a child', async () => {
    expect(await (await start('gives', 'almost too large')).result()).toHaveLength(2_060_000);
    expect(await (await start('asksForMuch', 'almost too large')).result()).toHaveLength(2_060_000);
  });
});
