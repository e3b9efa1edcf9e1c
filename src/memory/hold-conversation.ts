/** A run holds a conversation: until it gives it back, or is over. */
import { Context } from '@temporalio/activity';
import { type RetryPolicy, WorkflowNotFoundError } from '@temporalio/common';
import { currentPosition, nonCancellable, runInScope } from '../loop/current-loop.ts';
import { type Held, heldHere } from '../loop/held.ts';
import type { Holder, WhenHeld } from './conversation-holder.ts';
import { holderInRun } from './run-memory.ts';

/** Until it is free, or the run is cancelled. A look at the store each time. */
const WAIT: RetryPolicy = { initialInterval: '500ms', backoffCoefficient: 1.3, maximumInterval: '10s' };

/** What is held, until it is let go. */
export interface ConversationHold extends Held {
  /** Gives it back for good. */
  letGo(): Promise<void>;
}

/**
 * Takes a conversation, as a step; waiting for it is that step's retries. Once it was given back, it is waited for anyhow:
 * a run that a person let go on does not fail of that. `undefined`: the code around this has it, as of an agent that is a
 * tool.
 * @throws ConversationBusyError if another run has it and `whenHeld` is `reject`
 */
export async function holdConversation(
  key: string,
  conversation: string,
  whenHeld: WhenHeld,
): Promise<ConversationHold | undefined> {
  const { loop, scope } = currentPosition()!;
  const of = JSON.stringify([key, conversation]);
  if (heldHere().some((held) => held.of === of)) return undefined;
  const who = { workflowId: loop.source.workflowId, chain: loop.chain };
  const take = async (how: WhenHeld): Promise<string> =>
    await holderInRun(key, conversation, how === 'queue' ? WAIT : undefined).take(who, how, isOver);
  const giveBack = async () =>
    await nonCancellable(async () => await holderInRun(key, conversation).giveBack(id));
  let id = await take(whenHeld);
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = async (act: () => Promise<void>): Promise<void> => {
    const mine = turn.then(async () => await runInScope(scope, act));
    turn = mine.catch(() => {});
    await mine;
  };
  return {
    of,
    giveBack: async () => await inTurn(giveBack),
    takeAgain: async () => {
      if (!loop.cancelled) await inTurn(async () => void (id = await take('queue')));
    },
    letGo: async () => await inTurn(giveBack),
  };
}

/** Whether a run has ended, with all that it was continued as. */
async function isOver({ workflowId, chain }: Holder): Promise<boolean> {
  try {
    const { raw, status, runId, closeTime } = await Context.current()
      .client.workflow.getHandle(workflowId)
      .describe();
    const isThat = runId === chain || raw.workflowExecutionInfo?.firstRunId === chain;
    return !isThat || (status.name !== 'RUNNING' && closeTime !== undefined);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}
