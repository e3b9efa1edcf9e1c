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
    const { workflowId } = handle;
    if (isNotFound(error))
      throw new DecisionRefusedError(`Run ${workflowId} is over, or was never there.`, 'run-over');
    const cause = (error as Error).cause as ApplicationFailure | undefined;
    if (cause?.message?.startsWith('No registered handler'))
      throw new DecisionRefusedError(`Run ${workflowId} is only starting, or not of an agent.`, 'unknown-id');
    if (cause?.type === 'AcceptedUpdateCompletedWorkflow' || cause?.name === 'CancelledFailure')
      throw new DecisionRefusedError(`Run ${workflowId} ended before it said what became of it.`, 'run-over');
    if (cause?.type !== 'DecisionRefusedError') throw error;
    const { code } = (cause.details?.[0] ?? {}) as { code?: RefusalCode };
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
   * it is worth as much as what keeps others from sending. Absent: nobody sent one, or the server has forgotten the run in
   * which it came in.
   */
  identity?: string;
}

/**
 * The decisions of a run, with the identity that its history has for each, or that of its parent or the root; not those of
 * its children. Reads whole histories. Needs a worker, as queries do.
 * @throws what the query throws: the run is not there, or no worker answers
 */
export async function decisionsOf(client: Client, workflowId: string): Promise<IdentifiedDecision[]> {
  const handle = client.workflow.getHandle(workflowId);
  const taken = await handle.query(decisions);
  const { parentExecution, rootExecution } = (await handle.describe()).raw.workflowExecutionInfo!;
  const runs = new Map<string, Promise<Sent[]>>();
  const sentTo = async ({ workflowId: id, runId }: Door) => {
    const key = JSON.stringify([id, runId]);
    if (!runs.has(key)) runs.set(key, sentToRun(client, id, runId));
    return await runs.get(key)!;
  };
  return await Promise.all(
    taken.map(async (decision) => {
      const { door } = decision;
      // A run says of itself that it was told from above: then from a run that is above it.
      const isAbove = [parentExecution, rootExecution].some(
        (above) => above?.workflowId === door?.workflowId && above?.runId === door?.runId,
      );
      if (!door || (door.workflowId !== workflowId && !isAbove)) return decision;
      const sent = (await sentTo(door)).find(({ key }) => key === keyOf(door));
      return sent && isAbout(sent, decision) ? { ...decision, identity: sent.identity } : decision;
    }),
  );
}

/** What somebody sent to a run, as its history has it. */
interface Sent {
  key: string;
  identity: string;
  /** `undefined`: it cannot be read. */
  input: unknown;
}

function keyOf({ signal, nth, updateId }: Partial<Door>): string {
  return updateId === undefined ? `${signal} ${nth}` : `update ${updateId}`;
}

async function sentToRun(client: Client, workflowId: string, runId: string): Promise<Sent[]> {
  const counts = new Map<string, number>();
  try {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const all = (events ?? []).map(async (event): Promise<Sent[]> => {
      const signaled = event.workflowExecutionSignaledEventAttributes;
      const accepted = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
      if (signaled) {
        const signal = signaled.signalName ?? '';
        const nth = (counts.get(signal) ?? 0) + 1;
        counts.set(signal, nth);
        const input = await read(client, signaled.input?.payloads);
        return [{ key: keyOf({ signal, nth }), identity: signaled.identity ?? '', input }];
      }
      if (!accepted?.meta?.updateId) return [];
      const key = keyOf({ updateId: accepted.meta.updateId });
      const input = await read(client, accepted.input?.args?.payloads);
      return [{ key, identity: accepted.meta.identity ?? '', input }];
    });
    return (await Promise.all(all)).flat();
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

async function read(client: Client, payloads: Payload[] | null | undefined): Promise<unknown> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  try {
    let decoded = payloads ?? [];
    for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
    return decoded[0] && payloadConverter.fromPayload(decoded[0]);
  } catch {
    return undefined;
  }
}

/** A run says through which door a decision came: what came through it must be that decision. */
function isAbout(
  { key, input }: Sent,
  { id, decision, value, arguments: changed, by }: TakenDecision,
): boolean {
  const sent = (input ?? {}) as { decision?: string } & Partial<Omit<TakenDecision, 'decision'>>;
  const how = { approved: 'approve', rejected: 'reject', answered: 'answer', unanswered: '' }[decision];
  const door = key.startsWith('update ') ? (sent.decision ?? 'answer') : key.split(' ')[0];
  const named = sent.id === undefined ? how === 'answer' : sent.id === id || id.endsWith(`/${sent.id}`);
  const same =
    isSame([sent.value, sent.by], [value, by]) && (changed === undefined || isSame(sent.arguments, changed));
  return door === how && named && same;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
