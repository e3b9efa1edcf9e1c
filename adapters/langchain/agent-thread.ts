/** An agent that goes on in a thread of memory: what is held while it runs, and where it goes on if another one was faster. */
import { DeclarationError, UnsupportedError } from '../../src/errors/index.ts';
import { insideRun } from '../../src/loop/ask.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import { whileHolding } from '../../src/loop/held.ts';
import { holdConversation } from '../../src/memory/hold-conversation.ts';
import { assertConversationId } from '../../src/memory/memory-path.ts';
import { graphConfig, type GraphConfig } from './graph-config.ts';
import { MemoryCheckpointSaver } from './saver.ts';

/**
 * What an agent does while others use its thread.
 *
 * - `queue`: it waits until no other run holds the thread.
 * - `reject`: if another run holds it, it fails with `ConversationBusyError`.
 * - `fork`: if others wrote meanwhile, its state goes into a new thread, which begins with what it read.
 *
 * With `queue` and `reject` it holds the thread from its start to its end, also while a person is asked: a state cannot be
 * put together with another one.
 */
export type WhenBusy = 'queue' | 'reject' | 'fork';

/** Which thread it is, and what happens while others use it. */
export interface ThreadOptions {
  /** Which thread of the key: 1 to 300 characters that a path may have. @default 'main' */
  conversation?: string;
  /** @default 'queue' */
  whenBusy?: WhenBusy;
  /** Told the thread in which a run goes on, once it was forked. Called again after a restart. */
  onFork?: (conversation: string) => void;
}

/** A compiled graph, as far as it must be known here. */
interface Compiled {
  checkpointer?: unknown;
  channels?: Record<string, { lc_graph_name?: string }>;
}

const MODES: readonly string[] = ['queue', 'reject', 'fork'];
/** Where the runs of a loop went on, by thread. */
const forks = perLoop(() => new Map<string, string>());

/**
 * Runs an agent in a thread. If it fails, the thread stays as it was: half of a state, such as a call without its result,
 * would be in the way of each run that comes after.
 * @param body gets what the agent is to be invoked with
 */
export async function inThread<T>(
  memoryKey: string,
  agent: object,
  options: ThreadOptions,
  body: (config: GraphConfig) => Promise<T>,
): Promise<T> {
  const { conversation = 'main', whenBusy = 'queue', onFork } = options;
  assertThread(agent, whenBusy, conversation);
  const named = JSON.stringify([memoryKey, conversation]);
  const mine = forks(currentPosition()!.loop);
  const thread = (whenBusy === 'fork' && mine.get(named)) || conversation;
  const saver = new MemoryCheckpointSaver({ memoryKey });
  saver.inRun = { onlyWhole: true };
  const config = { configurable: { thread_id: thread, __pregel_checkpointer: saver } };
  if (whenBusy === 'fork') {
    saver.inRun.onFork = (id) => {
      mine.set(named, id);
      config.configurable.thread_id = id;
      onFork?.(id);
    };
    return await body(config);
  }
  const hold = await holdConversation(memoryKey, `threads/${thread}`, whenBusy);
  if (!hold)
    throw new UnsupportedError(
      `Cannot go on in thread ${conversation} of its memoryKey: the code around this does, and one of the two states would be lost. Use another "conversation".`,
    );
  const stays = { of: hold.of, giveBack: async () => {}, takeAgain: async () => {} };
  try {
    const result = await whileHolding(stays, async () => await body(config));
    await hold.letGo();
    return result;
  } catch (error) {
    await hold.letGo().catch(() => {});
    throw error;
  }
}

function assertThread(agent: object, whenBusy: string, conversation: string): void {
  if (!insideRun())
    throw new DeclarationError(
      'Cannot use "memoryKey" outside a run, or in the body of a tool or step. Start the agent by client.workflow.start(agent, …); code without a run has the same thread by new MemoryCheckpointSaver({ memoryKey, store: new MemoryStore(new FileStore(folder)) }).',
    );
  if (whenBusy === 'append')
    throw new UnsupportedError(
      `Cannot use "whenBusy": "append": the state of a graph is no list that another run's could be added to. Use ${MODES.join(', ')}.`,
    );
  if (!MODES.includes(whenBusy))
    throw new DeclarationError(
      `Cannot run the agent: "whenBusy" is ${JSON.stringify(whenBusy)}. Use ${MODES.join(', ')}.`,
    );
  assertConversationId(conversation);
  if (graphConfig())
    throw new UnsupportedError(
      'Cannot use "memoryKey" in a node or a tool of a graph: the whole graph has one state. Use it where the graph is run.',
    );
  const { graph = agent } = agent as { graph?: object };
  const { checkpointer, channels = {} } = graph as Compiled;
  if (checkpointer === false)
    throw new UnsupportedError(
      'Cannot use "memoryKey" with a graph that was compiled with "checkpointer": false.',
    );
  const delta = Object.keys(channels).find((name) => channels[name]?.lc_graph_name === 'DeltaChannel');
  if (whenBusy === 'fork' && delta !== undefined)
    throw new UnsupportedError(
      `Cannot use "whenBusy": "fork" with a graph whose channel ${delta} is a DeltaChannel: its value is made of all writes of the thread, which a fork does not have. Use queue or reject.`,
    );
}
