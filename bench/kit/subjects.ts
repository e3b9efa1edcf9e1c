/** What is compared: workflow types, and the worker process that serves each. */

/** A kind of worker process. */
export type Party = 'bare' | 'agents' | 'official';

/** The script of each. */
export const workerScripts: Readonly<Record<Party, URL>> = {
  bare: new URL('../bare-worker.ts', import.meta.url),
  agents: new URL('../agents-worker.ts', import.meta.url),
  official: new URL('../official/worker.ts', import.meta.url),
};

/** All of them, in the order in which they take turns. */
export const parties: readonly Party[] = ['bare', 'agents', 'official'];

/** A workflow type that does a task. */
export interface Subject {
  label: string;
  party: Party;
  type: string;
}

export const bare: Subject = { label: 'bare workflow', party: 'bare', type: 'bare' };
export const plain: Subject = { label: 'temporal-agents, no framework', party: 'agents', type: 'plain' };
export const sdk: Subject = { label: 'temporal-agents, OpenAI Agents', party: 'agents', type: 'assistant' };
export const official: Subject = { label: 'official plugin', party: 'official', type: 'assistant' };
/** As a careful user of the official plugin would have it where a worker may die. */
export const officialWithHeartbeats: Subject = {
  label: 'official plugin, heartbeat 10 s',
  party: 'official',
  type: 'assistantWithHeartbeats',
};
