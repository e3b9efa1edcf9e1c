/** Runs of the SDK in conversations: what is held while they run, and written when they end. */
import type { AgentInputItem, Session } from '@openai/agents';
import { currentPosition } from '../../src/loop/current-loop.ts';
import { whileHolding } from '../../src/loop/held.ts';
import type { Loop } from '../../src/loop/loop.ts';
import { type ConversationHold, holdConversation } from '../../src/memory/hold-conversation.ts';
import { memory, memoryInStep } from '../../src/memory/run-memory.ts';
import type { Attempt } from '../../src/memory/versions.ts';
import { ConversationSession, withinBody } from './conversation-session.ts';
import { Exchange, type RunExchange } from './exchange.ts';

type RunOptions = { stream?: boolean; session?: Session };

/**
 * Runs what a run of the SDK does in the conversation of its session, if that is one of ours. A stream ends it itself.
 * @param resumes It goes on from a state, in which calls wait for their results.
 */
export async function inConversation<T>(
  options: RunOptions | undefined,
  resumes: boolean,
  body: (exchange: RunExchange | undefined) => Promise<T>,
): Promise<T> {
  const { session, stream } = options ?? {};
  const { underlyingSession } = (session ?? {}) as { underlyingSession?: unknown };
  const ours = [session, underlyingSession].find((each) => each instanceof ConversationSession);
  if (!ours) return await body(undefined);
  const { key, whenBusy, conversation } = ours;
  const holds = whenBusy === 'reject' || whenBusy === 'queue';
  const hold = holds ? await holdConversation(key, conversation, whenBusy) : undefined;
  const exchange = runExchange(ours, resumes, hold);
  try {
    const result = await (hold ? whileHolding(hold, () => body(exchange)) : body(exchange));
    if (!stream) await exchange.end();
    return result;
  } catch (error) {
    // What became of the run counts, not what became of what it left.
    await exchange.end().catch(() => {});
    throw error;
  }
}

/** Runs the body of a step in which a session changes a conversation: all that it does there is one write. */
export async function inOneBlock<T>(
  session: ConversationSession,
  loop: Loop,
  attempt: Attempt,
  body: () => Promise<T>,
): Promise<T> {
  const conversation = memoryInStep(loop, session.key, attempt).conversation<AgentInputItem>(
    session.conversation,
  );
  const exchange = new Exchange(conversation, { open: true });
  const answer = await withinBody(session, exchange, body);
  await exchange.end();
  return answer;
}

function runExchange(
  session: ConversationSession,
  resumes: boolean,
  hold: ConversationHold | undefined,
): RunExchange {
  const { loop } = currentPosition()!;
  const conversation = memory(session.key).conversation<AgentInputItem>(session.conversation);
  const exchange = new Exchange(conversation, {
    open: resumes,
    fork: session.whenBusy === 'fork',
    onFork: (id) => session.forked(loop, id),
  });
  let ended: Promise<void> | undefined;
  const end = async () => {
    try {
      await exchange.end();
    } finally {
      await hold?.letGo();
    }
  };
  return {
    getItems: async (limit) => await exchange.getItems(limit),
    addItems: async (items) => await exchange.addItems(items),
    popItem: async () => await exchange.popItem(),
    replaceItems: async (items) => await exchange.replaceItems(items),
    end: async () => await (ended ??= end()),
  };
}
