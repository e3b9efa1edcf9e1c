/** A host of loops without Temporal: what a run asks of it, and a server that says what a test has it say. */
import { afterEach } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { type Agent, agent, sleep } from '../../src/index.ts';
import { askStep } from '../../src/loop/ask.ts';
import { Prices } from '../../src/prices/prices.ts';
import { LoopHost, type LoopHostOptions } from '../../src/loop/loop-host.ts';
import type { Advance, AdvanceInput } from '../../src/protocol/advance.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/protocol/limits.ts';
import { LOCAL_INPUT } from '../../src/protocol/names.ts';
import type { Step } from '../../src/protocol/step.ts';
import { recordWith } from './record.ts';

export const MINUTE = 60_000;
const hosts: LoopHost[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.close();
});

/** Asks two turns, one after the other. */
export const two = agent('two', async () => [await turn('first'), await turn('second')]);
export const turn = (name: string) => askStep<string>({ kind: 'turn', name, request: {} });
export const waiting = agent('waiting', async () => await sleep('3 days'));
export const signals: unknown[][] = [];

/**
 * A host, and the run that asks it; the server says that its task is the present one, at this attempt.
 * @param options.overAfter how often it says so, until it says that the task is over
 * @param options.noneAfter how often it tells of a task
 */
export function hostOf(
  agents: Agent[],
  options: Partial<LoopHostOptions> & { attempt?: number; overAfter?: number; noneAfter?: number } = {},
) {
  const { attempt = 1, overAfter = Infinity, noneAfter = Infinity, ...rest } = options;
  let asked = 0;
  signals.length = 0;
  const host = new LoopHost({
    prices: new Prices(),
    taskQueue: 'agents',
    agents: new Map(agents.map((each) => [each.agentName, each])),
    servedTools: new Set(),
    storage: { maxPayloadBytes: MAX_PAYLOAD_BYTES },
    settings: {},
    parkAfterMs: MINUTE,
    maxLoops: 100,
    agentMissingMs: MINUTE,
    ...rest,
  });
  hosts.push(host);
  const handle = {
    describe: async () => {
      const state = ++asked > overAfter ? 1 : 2;
      const pendingWorkflowTask = asked > noneAfter ? undefined : { attempt, state };
      return { historyLength: 3, status: { name: 'RUNNING' }, raw: { pendingWorkflowTask } };
    },
    signal: async (...signal: unknown[]) => void signals.push(signal),
  };
  const workflowService = { getWorkflowExecutionHistoryReverse: async () => ({ history: { events: [] } }) };
  const client = {
    workflow: { getHandle: () => handle },
    workflowService,
    options: {},
    connection: {},
  } as unknown as Client;
  const advance = async (input: Partial<AdvanceInput> = {}, runId = 'run-1'): Promise<Advance> =>
    await host.advance(
      { runId, workflowId: runId, client },
      {
        [LOCAL_INPUT]: 1,
        agent: agents[0]!.agentName,
        input: undefined,
        from: 0,
        records: [],
        seen: 0,
        inFlight: 0,
        pokes: 0,
        acts: 0,
        historyLength: 3,
        taskTimeoutMs: 10_000,
        taskStartedAt: Date.now(),
        ...input,
      },
    );
  return { host, advance };
}

export const recordOf = ({ key, kind, name }: Step) => recordWith({ key, kind, name, value: `${name}!` });
