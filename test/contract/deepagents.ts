import type { AdapterFixture } from './contract-scene.ts';

/** Deep Agents before the contract; the adapter below it is killed at each step. */
export const deepagents: AdapterFixture = {
  name: 'Deep Agents',
  module: new URL('./deepagents.fixture.ts', import.meta.url).href,
  steps: 13,
  // The handoff: a body without an effect.
  silent: [10],
  killFew: true,
  // Memory: it takes the thread, reads it twice, asks, looks, asks, writes it and gives it back.
  extras: { memory: 8, mcp: 6, streaming: 8, structured: true, siblings: 6, questions: true },
};
