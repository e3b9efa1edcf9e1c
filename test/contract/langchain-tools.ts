/** LangChain's own tools for the contract's agents of its family. */
import { fileURLToPath } from 'node:url';
import { interrupt } from '@langchain/langgraph';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { tool as ownTool } from '@langchain/core/tools';
import { z } from 'zod';
import { note } from '../kit/effects.ts';
import { parameters } from './contract-tools.ts';

const shop = fileURLToPath(new URL('../fixtures/mcp-server.ts', import.meta.url));

export const ownLookup = ownTool(
  ({ what }) => {
    note(`own ${what}`);
    return `found ${what}`;
  },
  { name: 'own_lookup', description: 'Looks something up, in LangChain.', schema: parameters },
);
/** Asks in the way of LangChain's own middleware, as a tool that knows when it must. */
export const ownRefund = ownTool(
  ({ what }) => {
    const name = 'own_refund';
    const { decisions } = interrupt<unknown, { decisions: { type: string; message?: string }[] }>({
      actionRequests: [{ name, args: { what } }],
      reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'reject'] }],
    });
    if (decisions[0]!.type === 'reject') return decisions[0]!.message ?? 'rejected';
    note(`own refund ${what}`);
    return 'refunded';
  },
  { name: 'own_refund', description: 'Refunds, in LangChain.', schema: parameters },
);

export const askPerson = ownTool(({ prompt }) => interrupt<string, string>(prompt), {
  name: 'ask_person',
  description: 'Asks a person.',
  schema: z.object({ prompt: z.string() }),
});

type Tools = Awaited<ReturnType<MultiServerMCPClient['getTools']>>;

/** The tools of the MCP server of the tests, over stdio. */
export async function withShop<T>(use: (tools: Tools) => Promise<T>): Promise<T> {
  const args = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning', shop];
  const env = { EFFECTS: process.env['EFFECTS']! };
  const client = new MultiServerMCPClient({
    shop: { transport: 'stdio', command: process.execPath, args, env },
  });
  try {
    return await use(await client.getTools());
  } finally {
    await client.close();
  }
}
