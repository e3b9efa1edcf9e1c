/**
 * What a worker's workflow bundle must export. The default export runs every agent: Temporal gives it each workflow type
 * that nothing else in the bundle has. Beside your own workflows: see docs/own-workflows.md.
 */
export { agentRun, agentRun as default } from './agent-run.ts';
export { answer, approve, decisions, message, records, reject, waiting } from '../src/protocol/signals.ts';
