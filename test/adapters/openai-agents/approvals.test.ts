/** Approvals of the SDK's own tools, with the worker restarted while they wait. */
import { expect, test } from '@jest/globals';
import { Agent, run, RunState, tool as sdkTool } from '@openai/agents';
import { z } from 'zod';
import { runAgent } from '../../../adapters/openai-agents/index.ts';
import { type Agent as DurableAgent, agent, approve, records, reject, tool } from '../../../src/index.ts';
import { client, unique } from '../../kit/temporal.ts';
import { untilWaiting } from '../../kit/waiting-runs.ts';
import { QUICK_START, startWorker } from '../../kit/workers.ts';
import { asked, callThenSay, scripts, toolTexts } from './scenarios.ts';

const ran: string[] = [];

type Decision = { id: string } & ({ approve: true } | { reason?: string });

/** Runs an agent; each time it waits for all these ids its worker is replaced, and then the ids are decided. */
async function decided(body: () => Promise<unknown>, ...rounds: Decision[][]) {
  const taskQueue = unique('approvals');
  const asker: DurableAgent<void> = agent('asker', body as () => Promise<void>);
  const start = async () => await startWorker({ taskQueue, plugin: { agents: [asker] } });
  let worker = await start();
  const { workflow } = await client();
  const handle = await workflow.start('asker', { taskQueue, workflowId: taskQueue, ...QUICK_START });
  const waited = [];
  for (const round of rounds) {
    waited.push(
      await untilWaiting(
        handle,
        round.map(({ id }) => id),
      ),
    );
    await worker.stop();
    worker = await start();
    for (const decision of round) {
      if ('approve' in decision) await handle.signal(approve, { id: decision.id });
      else await handle.signal(reject, decision);
    }
  }
  const result: unknown = await handle.result();
  const all = await handle.query(records);
  await worker.stop();
  return { result, waited, records: all };
}

const transfer = (options: { needsApproval: true | ((context: unknown, input: any) => Promise<boolean>) }) =>
  sdkTool({
    name: 'transfer',
    description: 'Moves money.',
    parameters: z.object({ amount: z.number(), to: z.string().default('savings') }),
    execute: async ({ amount, to }) => {
      ran.push(`transfer ${amount} ${to}`);
      return `moved ${amount} to ${to}`;
    },
    ...options,
  });

test('asks a person for each call that needs approval, and goes on with the decisions, over restarts', async () => {
  const name = 'approved, rejected with and without a reason';
  scripts[name] = callThenSay(
    { name: 'transfer', arguments: { amount: 1 } },
    { name: 'transfer', arguments: { amount: 2 } },
    { name: 'transfer', arguments: { amount: 3 } },
  );
  const {
    result,
    waited,
    records: all,
  } = await decided(
    async () =>
      await runAgent('Go', {
        instructions: name,
        model: 'gpt-4.1',
        tools: [transfer({ needsApproval: true })],
      }),
    [{ id: 'transfer-1', approve: true }, { id: 'transfer-2' }, { id: 'transfer-3', reason: 'Too much.' }],
  );
  expect(result).toBe('moved 1 to savings | Tool execution was not approved. | Too much.');
  expect(waited[0]).toMatchObject([
    { id: 'transfer-1', prompt: 'Run transfer?', input: { amount: 1 } },
    { id: 'transfer-2', input: { amount: 2 } },
    { id: 'transfer-3', input: { amount: 3 } },
  ]);
  expect(all.map(({ kind }) => kind)).toEqual(['turn', 'approval', 'approval', 'approval', 'tool', 'turn']);
  expect(ran.filter((what) => what.startsWith('transfer'))).toEqual(['transfer 1 savings']);
  expect(asked(name)).toHaveLength(2);
});

test('gives a policy the arguments as the SDK normalises them', async () => {
  const name = 'a policy';
  const saw: unknown[] = [];
  scripts[name] = callThenSay(
    { name: 'transfer', arguments: { amount: 10 } },
    { name: 'transfer', arguments: { amount: 500 } },
  );
  const needsApproval = async (_context: unknown, input: { amount: number; to: string }) => {
    saw.push(input);
    return input.to === 'savings' && input.amount > 100;
  };
  const { result } = await decided(
    async () =>
      await runAgent('Go', { instructions: name, model: 'gpt-4.1', tools: [transfer({ needsApproval })] }),
    [{ id: 'transfer-1', approve: true }],
  );
  expect(result).toBe('moved 10 to savings | moved 500 to savings');
  expect(saw).toContainEqual({ amount: 500, to: 'savings' });
});

test('lets approvals inside agents that are tools surface, one after another', async () => {
  const [outer, inner] = ['an outer agent', 'an inner agent'];
  scripts[outer] = callThenSay(
    { name: 'helper', arguments: { input: 'help' } },
    { name: 'transfer', arguments: { amount: 70 } },
  );
  scripts[inner] = (request) => {
    const texts = toolTexts(request);
    if (texts.length === 2) return { text: `inner ${texts.join()}` };
    return { toolCalls: [{ name: 'transfer', arguments: { amount: 71 + texts.length } }] };
  };
  const body = async () => {
    const tools = [transfer({ needsApproval: true })];
    const helper = new Agent({ name: 'Helper', instructions: inner, model: 'gpt-4.1', tools });
    const top = new Agent({
      name: 'Top',
      instructions: outer,
      model: 'gpt-4.1',
      tools: [helper.asTool({ toolName: 'helper', toolDescription: 'Helps.' }), ...tools],
    });
    const result = await run(top, 'Go');
    return { output: result.finalOutput, requests: result.state.usage.requests };
  };
  const { result } = await decided(
    body,
    [
      { id: 'transfer-1', approve: true },
      { id: 'transfer-2', approve: true },
    ],
    [{ id: 'transfer-3', approve: true }],
  );
  expect(result).toEqual({
    output: 'moved 70 to savings | inner moved 71 to savings,moved 72 to savings',
    requests: 5,
  });
  expect(ran.filter((what) => what.startsWith('transfer 7')).toSorted()).toEqual(
    ['70', '71', '72'].map((n) => `transfer ${n} savings`),
  );
  expect([asked(outer), asked(inner)].map(({ length }) => length)).toEqual([2, 3]);
});

test('a stream goes on by itself once all is decided, also within an agent that is a tool', async () => {
  const [outer, inner] = ['a stream that waits', 'a stream within'];
  scripts[outer] = callThenSay(
    { name: 'transfer', arguments: { amount: 4 } },
    { name: 'helper', arguments: { input: 'help' } },
  );
  scripts[inner] = callThenSay({ name: 'transfer', arguments: { amount: 5 } });
  const body = async () => {
    const tools = [transfer({ needsApproval: true })];
    const helper = new Agent({ name: 'Helper', instructions: inner, model: 'gpt-4.1', tools });
    const streamed: string[] = [];
    const onStream = () => void streamed.push('helper');
    const asTool = helper.asTool({ toolName: 'helper', toolDescription: 'Helps.', onStream });
    const top = new Agent({
      name: 'Top',
      instructions: outer,
      model: 'gpt-4.1',
      tools: [...tools, asTool],
    });
    const stream = await run(top, 'Go', { stream: true });
    const items: string[] = [];
    let text = '';
    for await (const event of stream) {
      if (event.type === 'run_item_stream_event') items.push(event.name);
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
        text += event.data.delta;
    }
    await stream.completed;
    const { finalOutput, interruptions, state, currentTurn } = stream;
    return {
      finalOutput,
      text,
      items,
      interruptions,
      requests: state.usage.requests,
      currentTurn,
      helper: streamed.length > 0,
    };
  };
  const { result } = await decided(body, [
    { id: 'transfer-1', approve: true },
    { id: 'transfer-2', reason: 'Not that.' },
  ]);
  expect(result).toMatchObject({
    finalOutput: 'moved 4 to savings | Not that.',
    text: 'moved 4 to savings | Not that.',
    interruptions: [],
    requests: 4,
    currentTurn: 2,
    helper: true,
  });
  const { items } = result as { items: string[] };
  expect(items.filter((name) => name === 'tool_output')).toHaveLength(2);
  expect([asked(outer), asked(inner)].map(({ length }) => length)).toEqual([2, 2]);
  expect(ran.filter((what) => /transfer [45] /.test(what))).toEqual(['transfer 4 savings']);
});

test('goes on with a state that was kept as text, whose approvals it asks', async () => {
  const name = 'kept as text';
  scripts[name] = callThenSay({ name: 'transfer', arguments: { amount: 6 } });
  const tools = [transfer({ needsApproval: true })];
  const top = new Agent({ name: 'Top', instructions: name, model: 'gpt-4.1', tools });
  // Outside a run the SDK's interruption is the caller's, as it always was.
  const { state, interruptions } = await run(top, 'Go');
  expect(interruptions).toHaveLength(1);
  const text = state.toString();
  const body = async () => {
    const result = await run(top, await RunState.fromString(top, text));
    const again = await RunState.fromString(top, result.state.toString());
    return { finalOutput: result.finalOutput, again: again.getInterruptions().length };
  };
  const { result, records: all } = await decided(body, [{ id: 'transfer-1', approve: true }]);
  expect(result).toEqual({ finalOutput: 'moved 6 to savings', again: 0 });
  expect(all.map(({ kind }) => kind)).toEqual(['approval', 'tool', 'turn']);
});

test('a state with decisions of its own is asked for nothing', async () => {
  const name = 'decided in the code';
  scripts[name] = callThenSay({ name: 'transfer', arguments: { amount: 8 } });
  const top = new Agent({
    name: 'Top',
    instructions: name,
    model: 'gpt-4.1',
    tools: [transfer({ needsApproval: true })],
  });
  const { state } = await run(top, 'Go');
  const text = state.toString();
  const { result } = await decided(async () => {
    const kept = await RunState.fromString(top, text);
    kept.reject(kept.getInterruptions()[0]!, { message: 'By rule.' });
    return (await run(top, kept)).finalOutput;
  });
  expect(result).toBe('By rule.');
});

test('a tool of ours that is rejected tells the model so in the words of the SDK, or of the person', async () => {
  const name = 'ours, rejected';
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    requiresApproval: ({ amount }) => `Pay ${amount}?`,
    execute: ({ amount }) => `paid ${amount}`,
  });
  scripts[name] = callThenSay(...[1, 2, 3].map((amount) => ({ name: 'pay', arguments: { amount } })));
  const { result, waited } = await decided(
    async () => await runAgent('Go', { instructions: name, model: 'gpt-4.1', tools: [pay] }),
    [{ id: 'pay-1', approve: true }, { id: 'pay-2' }, { id: 'pay-3', reason: 'No money.' }],
  );
  expect(result).toBe('paid 1 | Tool execution was not approved. | No money.');
  expect(waited[0]).toMatchObject([{ prompt: 'Pay 1?' }, {}, {}]);
});

test('goes on from the last response where the provider keeps the conversation', async () => {
  const name = 'kept by the provider';
  scripts[name] = ({ messages }) =>
    messages.at(-1)!.role === 'tool'
      ? { text: messages.at(-1)!.toolResults[0]!.text }
      : { toolCalls: [{ name: 'transfer', arguments: { amount: 5 } }] };
  const body = async () => {
    const kept = new Agent({
      name: 'A',
      instructions: name,
      model: 'gpt-4.1',
      tools: [transfer({ needsApproval: true })],
    });
    return (await run(kept, 'Go', { previousResponseId: 'resp_before' })).finalOutput;
  };
  const { result, records: all } = await decided(body, [{ id: 'transfer-1', approve: true }]);
  expect(result).toBe('moved 5 to savings');
  const previous = asked(name).map((request) => request.body['previous_response_id']);
  expect(previous).toEqual(['resp_before', (all[0]!.value as { responseId: string }).responseId]);
});
