import { insideBody } from './loop/current-loop.ts';

let said = false;

/** Says once in a process that agents and tools run plainly, because they were called outside a Temporal run. */
export function sayDurabilityIsOff(): void {
  if (said || insideBody()) return;
  said = true;
  process.emitWarning(
    'An agent or tool was called outside a Temporal run: it runs, but nothing of it is durable. Start it with client.workflow.start(agent, …) to have it survive a crash.',
    { type: 'TemporalAgents', code: 'DURABILITY_OFF' },
  );
}

/** Says each time that a tool or an agent runs unapproved, because there is no run that could wait for a person. */
export function sayNobodyApproves(what: string): void {
  process.emitWarning(
    `${what} requires approval, and runs without one: it was called outside a Temporal run.`,
    {
      type: 'TemporalAgents',
      code: 'NOT_APPROVED',
    },
  );
}
