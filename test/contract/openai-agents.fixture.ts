/** The contract's agents, in the OpenAI Agents SDK. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, MCPServerStdio, run, tool as ownTool } from '@openai/agents';
import { z } from 'zod';
import { agent } from '../../src/index.ts';
import { runAgent, toAgentTool } from '../../adapters/openai-agents/index.ts';
import { FileSession } from '../fixtures/file-session.ts';
import { note } from '../kit/effects.ts';
import { broken, change, charge, lookup, parameters, peek, refund } from './contract-tools.ts';

const shop = fileURLToPath(new URL('../fixtures/mcp-server.ts', import.meta.url));
const model = 'gpt-4.1-mini';

const ownLookup = ownTool({
  name: 'own_lookup',
  description: 'Looks something up, in the SDK.',
  parameters,
  execute: async ({ what }) => {
    note(`own ${what}`);
    return `found ${what}`;
  },
});
const ownRefund = ownTool({
  name: 'own_refund',
  description: 'Refunds, in the SDK.',
  parameters,
  needsApproval: true,
  execute: async ({ what }) => {
    note(`own refund ${what}`);
    return 'refunded';
  },
});

export const steps = agent('steps', async (input: string) => {
  const expert = new Agent({ name: 'Expert', instructions: 'EXPERT', model, tools: [toAgentTool(lookup)] });
  const writer = new Agent({ name: 'Writer', instructions: 'WRITER', model, tools: [toAgentTool(lookup)] });
  const triage = Agent.create({
    name: 'Triage',
    instructions: 'TRIAGE',
    model,
    tools: [
      toAgentTool(lookup),
      ownLookup,
      expert.asTool({ toolName: 'ask_expert', toolDescription: 'Asks the expert.' }),
    ],
    handoffs: [writer],
  });
  return (await run(triage, input)).finalOutput;
});

export const toolError = agent('toolError', async (input: string) => {
  return await runAgent(input, { model, instructions: 'BREAKER', tools: [broken] });
});

export const flaky = agent(
  'flaky',
  async (input: string) => await runAgent(input, { model, instructions: 'FLAKY' }),
);
export const refused = agent(
  'refused',
  async (input: string) => await runAgent(input, { model, instructions: 'REFUSED' }),
);
export const hanging = agent(
  'hanging',
  async (input: string) => await runAgent(input, { model, instructions: 'HANGING' }),
);

export const approvals = agent('approvals', async (input: string) => {
  return await runAgent(input, { model, instructions: 'CASHIER', tools: [lookup, refund, ownRefund] });
});

export const hears = agent(
  'hears',
  async (input: string) => await runAgent(input, { model, instructions: 'HEARER', onMessage: 'after' }),
);

export const remembers = agent('remembers', async (input: string) => {
  const keeper = new Agent({ name: 'Keeper', instructions: 'KEEPER', model, tools: [toAgentTool(lookup)] });
  const session = new FileSession(join(process.env['MEMORY']!, input.split(' ')[0]!));
  return (await run(keeper, input, { session })).finalOutput;
});

export const shops = agent('shops', async (input: string) => {
  const args = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning', shop];
  const env = { EFFECTS: process.env['EFFECTS']! };
  const server = new MCPServerStdio({ command: process.execPath, args, env });
  await server.connect();
  try {
    const shopper = new Agent({ name: 'Shopper', instructions: 'SHOPPER', model, mcpServers: [server] });
    return (await run(shopper, input)).finalOutput;
  } finally {
    await server.close();
  }
});

export const speaks = agent('speaks', async (input: string) => {
  const bursar = new Agent({ name: 'Bursar', instructions: 'BURSAR', model, tools: [ownRefund] });
  const tools = [
    toAgentTool(lookup),
    bursar.asTool({ toolName: 'ask_bursar', toolDescription: 'Asks the bursar.' }),
  ];
  const speaker = new Agent({ name: 'Speaker', instructions: 'SPEAKER', model, tools });
  const stream = await run(speaker, input, { stream: true });
  let text = '';
  for await (const part of stream.toTextStream()) text += part;
  await stream.completed;
  return { text, output: stream.finalOutput };
});

const Forecast = z.object({ city: z.string(), degrees: z.number() });
export const structured = agent('structured', async (input: string) => {
  return await runAgent(input, { model, instructions: 'FORECASTER', outputType: Forecast });
});

export const siblings = agent('siblings', async (input: string) => {
  const twin = new Agent({ name: 'Twin', instructions: 'TWIN', model, tools: [toAgentTool(lookup)] });
  const ask = async (number: number) => {
    const { finalOutput } = await run(twin, input);
    note(`${number} ${finalOutput}`);
    return finalOutput;
  };
  return await Promise.all([ask(0), ask(1)]);
});

export const changing = agent('changing', async (input: string) => {
  if (change === 'log') note(`log ${input}`);
  const instructions = change === 'prompt' ? 'CLERK, be polite' : 'CLERK';
  const first = await runAgent(input, { model, instructions, tools: [peek, charge] });
  if (change === 'call') await runAgent(input, { model, instructions: 'EXTRA' });
  return await runAgent(`${input} after ${first}`, { model, instructions: 'CLOSER', tools: [refund] });
});
