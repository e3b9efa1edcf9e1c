/** Decisions from code: taken with an answer, and looked up with who the server says took them. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure, Payload } from '@temporalio/common';
import { DecisionRefusedError } from '../errors/index.ts';
import type { Door } from '../protocol/advance.ts';
import {
  decide,
  type DecideInput,
  type DecisionReceipt,
  decisions,
  type RefusalCode,
  type TakenDecision,
} from '../protocol/signals.ts';

/**
 * Approves, rejects or answers what a run waits for, and says whether that was taken. Needs a worker, which a signal does
 * not: it waits for one.
 * @throws DecisionRefusedError: unknown id, already decided, out of time, does not fit, or the run is over
 */
export async function sendDecision(handle: WorkflowHandle, input: DecideInput): Promise<DecisionReceipt> {
  try {
    return await handle.executeUpdate(decide, { args: [input] });
  } catch (error) {
    if (isNotFound(error))
      throw new DecisionRefusedError(`Run ${handle.workflowId} is over, or was never there.`, 'run-over');
    const cause = (error as Error).cause as ApplicationFailure | undefined;
    if (cause?.type !== 'DecisionRefusedError') throw error;
    const { code } = cause.details?.[0] as { code: RefusalCode };
    throw new DecisionRefusedError(cause.message, code);
  }
}

/** By its name: a client may have a copy of Temporal's library of its own. */
function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowNotFoundError';
}

/** A decision with what the server says of its sender. */
export interface IdentifiedDecision extends TakenDecision {
  /**
   * The identity of the client that sent it, as the server recorded it with the event. The server takes it from the client;
   * it is worth as much as what keeps others from sending. Absent: nobody sent one, or the server has forgotten the run.
   */
  identity?: string;
}

/** The decisions of a run, with the identity that its history has for each. Needs a worker, as queries do. */
export async function decisionsOf(client: Client, workflowId: string): Promise<IdentifiedDecision[]> {
  const taken = await client.workflow.getHandle(workflowId).query(decisions);
  const senders = new Map<string, Promise<Senders | undefined>>();
  return await Promise.all(
    taken.map(async (decision) => {
      const { door } = decision;
      if (!door) return decision;
      const run = JSON.stringify([door.workflowId, door.runId]);
      if (!senders.has(run)) senders.set(run, sendersOf(client, door));
      const sender = (await senders.get(run))?.get(keyOf(door));
      const fits = sender && (await isAbout(client, sender.payloads, decision.id));
      return fits ? { ...decision, identity: sender.identity } : decision;
    }),
  );
}

type Senders = Map<string, { identity: string; payloads: Payload[] }>;

function keyOf({ signal, nth, updateId }: Door): string {
  return updateId === undefined ? `${signal} ${nth}` : `update ${updateId}`;
}

/** Who sent what to a run, by its door. */
async function sendersOf(client: Client, { workflowId, runId }: Door): Promise<Senders | undefined> {
  const senders: Senders = new Map();
  const counts = new Map<string, number>();
  try {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const event of events ?? []) {
      const signaled = event.workflowExecutionSignaledEventAttributes;
      const accepted = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
      if (signaled) {
        const signal = signaled.signalName ?? '';
        const nth = (counts.get(signal) ?? 0) + 1;
        counts.set(signal, nth);
        const key = keyOf({ workflowId, runId, signal, nth });
        senders.set(key, { identity: signaled.identity ?? '', payloads: signaled.input?.payloads ?? [] });
      } else if (accepted?.meta?.updateId) {
        const key = keyOf({ workflowId, runId, updateId: accepted.meta.updateId });
        const payloads = accepted.input?.args?.payloads ?? [];
        senders.set(key, { identity: accepted.meta.identity ?? '', payloads });
      }
    }
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  return senders;
}

/** A run says through which door a decision came; what came through it must be about that. */
async function isAbout(client: Client, payloads: Payload[], id: string): Promise<boolean> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  let decoded = payloads;
  for (const codec of [...payloadCodecs].reverse()) decoded = await codec.decode(decoded);
  const input = decoded[0] && payloadConverter.fromPayload<{ id?: unknown } | null>(decoded[0]);
  const named = input?.id;
  return named === undefined || (typeof named === 'string' && (id === named || id.endsWith(`/${named}`)));
}
