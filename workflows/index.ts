/**
 * What a worker's workflow bundle must export. The default export runs every agent: Temporal gives it each workflow type
 * that nothing else in the bundle has. Beside your own workflows:
 *
 * ```ts
 * // workflows.ts, your `workflowsPath`
 * export { default } from 'temporal-agents/workflows';
 * export * from './my-workflows.ts';
 * ```
 *
 * If your bundle has a default export of its own, export the run under each agent's name instead:
 *
 * ```ts
 * export { agentRun as support } from 'temporal-agents/workflows';
 * ```
 */
export { agentRun, agentRun as default } from './agent-run.ts';
export { approve, records, reject, waiting } from '../src/protocol/signals.ts';
