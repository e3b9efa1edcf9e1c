import type { AdapterFixture } from './contract-scene.ts';

/** LangChain and LangGraph before the contract. */
export const langchain: AdapterFixture = {
  name: 'LangChain',
  module: new URL('./langchain.fixture.ts', import.meta.url).href,
  steps: 15,
  // `ask_expert`, which is made of steps until its end, that end, and the handoff: bodies without an effect.
  silent: [6, 10, 12],
  // Memory: it takes the thread, reads it, asks, looks, asks, writes it and gives it back.
  extras: { memory: 7, mcp: 6, streaming: 10, structured: true, siblings: 6, questions: true },
};
