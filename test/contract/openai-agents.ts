import type { AdapterFixture } from './contract-scene.ts';

/** The OpenAI Agents SDK before the contract. */
export const openaiAgents: AdapterFixture = {
  name: 'OpenAI Agents',
  module: new URL('./openai-agents.fixture.ts', import.meta.url).href,
  steps: 12,
  extras: { memory: 5, mcp: 9, streaming: 7, structured: true, siblings: 6 },
};
