import { testAdapter } from './contract.ts';

testAdapter({
  name: 'OpenAI Agents',
  module: new URL('./openai-agents.fixture.ts', import.meta.url).href,
  steps: 12,
  extras: { memory: 5 },
});
