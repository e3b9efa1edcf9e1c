import type { AdapterFixture } from './contract-scene.ts';

/** LangGraph before the contract: graphs written by hand, in place of what LangChain's `createAgent` makes. */
export const langgraph: AdapterFixture = {
  name: 'LangGraph',
  module: new URL('./langgraph.fixture.ts', import.meta.url).href,
  steps: 15,
  // `ask_expert`, which is made of steps until its end, that end, and the handoff: bodies without an effect.
  silent: [6, 10, 12],
  killFew: true,
  extras: { memory: 5, mcp: 6, streaming: 10, structured: true, siblings: 6, questions: true },
};
