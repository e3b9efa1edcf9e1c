/** Makes a loop of what its run sent, and keeps it where its run is looked for. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Agent } from '../agent.ts';
import type { RunStorage } from '../blobs/run-storage.ts';
import type { AdvanceInput } from '../protocol/advance.ts';
import { MAX_OUTPUT_TOKENS } from '../protocol/limits.ts';
import { POKE_SIGNAL } from '../protocol/names.ts';
import { Loop } from './loop.ts';
import { Poke } from './poke.ts';
import { assertFits } from './recordable.ts';
import type { RunContact } from './workflow-task.ts';

export interface Kept {
  loop: Loop;
  poke: Poke;
}

/**
 * Apart from `advance`, so that nothing the loop holds keeps alive the records it was built from.
 */
export function keepLoop(
  kept: Map<string, Kept>,
  { runId, workflowId, client }: RunContact,
  {
    input,
    chain = runId,
    idempotencyKey,
    pending = [],
    pendingChanged = [],
    divergedAt,
    pinned,
    maxOutputTokens,
  }: AdvanceInput,
  host: {
    agent: Agent;
    storage: RunStorage;
    serves: (tool: object) => boolean;
    gone: (loop: Loop) => void;
  },
): Loop {
  const { agent, storage } = host;
  const poke = new Poke({
    send: async () => await client.workflow.getHandle(workflowId, runId).signal(POKE_SIGNAL, loop.epoch),
    needed: () => loop.mustTell && kept.get(runId)?.loop === loop,
    isGone: (error) => error instanceof WorkflowNotFoundError,
    gone: () => host.gone(loop),
  });
  const loop: Loop = new Loop({
    runId,
    workflowId,
    agent: agent.agentName,
    chain,
    idempotencyKey,
    storage,
    pending,
    pendingChanged,
    divergedAt,
    pinned,
    maxOutputTokens: maxOutputOf(agent, maxOutputTokens),
    ready: () => poke.ready(),
    serves: (tool) => host.serves(tool),
    body: async (self) => {
      const output = await agent.execute(input, { signal: self.abort.signal });
      assertFits(output, `The output of agent ${agent.agentName}`, storage.maxPayloadBytes);
      return output;
    },
  });
  kept.set(runId, { loop, poke });
  return loop;
}

/** The run does not know its agent's own budget before its loop is built. */
function maxOutputOf(
  { settings: { budget } }: Agent,
  ofRun: AdvanceInput['maxOutputTokens'],
): number | undefined {
  if (!budget && !ofRun) return undefined;
  return ofRun?.run ?? budget?.maxOutputTokens ?? ofRun?.parent ?? MAX_OUTPUT_TOKENS;
}
