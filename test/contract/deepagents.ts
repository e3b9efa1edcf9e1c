import type { AdapterFixture } from './contract-scene.ts';

/** Deep Agents before the contract; the adapter below it is killed at each step. */
export const deepagents: AdapterFixture = {
  name: 'Deep Agents',
  module: new URL('./deepagents.fixture.ts', import.meta.url).href,
  steps: 13,
  // The handoff: a body without an effect.
  silent: [10],
  killFew: true,
  extras: { streaming: 8 },
};
