import type { RetryPolicy } from '@temporalio/common';
import { DeclarationError } from '../errors/index.ts';
import { toApplicationFailure } from '../errors/failure.ts';
import { askStep } from '../loop/ask.ts';
import { currentPosition } from '../loop/current-loop.ts';
import type { Loop } from '../loop/loop.ts';
import type { ConversationHolder } from './conversation-holder.ts';
import type { Memory } from './memory.ts';
import type { MemoryStore } from './memory-store.ts';
import type { Use, User } from './user.ts';
import type { Attempt } from './versions.ts';

/** A store that is away is given ten minutes to come back: after 1, 2, 4, … seconds, then once a minute. */
export const PATIENT: RetryPolicy = {
  maximumAttempts: 17,
  initialInterval: '1s',
  backoffCoefficient: 2,
  maximumInterval: '1 minute',
};
const TIMEOUT = '2 minutes';
/** How far apart the clocks of two workers may be, in milliseconds. */
const CLOCKS_DIFFER = 60_000;

/**
 * The memory of one key, inside a run: what is written outlives the run. Each use is a step, so a restarted run sees what
 * the first one saw, and a write is applied once whatever becomes of its worker.
 * @param key any text of 1 to 1,000 characters, such as a customer's id; runs of all agents share it
 * @throws DeclarationError outside a run, or if the worker has no `blobs`; MemoryPathError for a key that cannot be
 */
export function memory(key: string): Memory {
  const { store, user } = storeInRun(key);
  return store.of(key, user);
}

/** Who holds a conversation, inside a run. `retry`: how a use of it is tried again. */
export function holderInRun(
  key: string,
  conversation: string,
  retry: RetryPolicy = PATIENT,
): ConversationHolder {
  const { store, user } = inRun(key, presentLoop(), retry);
  return store.holderOf(key, conversation, user);
}

/** A store and who uses it, inside a run: each use is a step. */
export function storeInRun(key: string): { store: MemoryStore; user: User } {
  return inRun(key, presentLoop());
}

/** Memory for the body of a step, which writes at most once. */
export function memoryInStep(loop: Loop, key: string, attempt: Attempt): Memory {
  const { store, user } = storeInStep(loop, key, attempt);
  return store.of(key, user);
}

/** A store and who uses it, in the body of a step, which writes at most once. */
export function storeInStep(loop: Loop, key: string, attempt: Attempt): { store: MemoryStore; user: User } {
  const { store, user } = inRun(key, loop);
  return { store, user: { ...user, use: async (_use, act) => await act(attempt, stepOf(attempt)) } };
}

/**
 * Since when an earlier attempt of a step may have written. A process that stood still believes to be the first, though
 * another one may have written since the step was asked.
 */
export function writtenSince(askedAt: number, again: boolean): number {
  return again ? 0 : askedAt - CLOCKS_DIFFER;
}

function inRun(
  key: string,
  { runId, source }: Loop,
  retry?: RetryPolicy,
): { store: MemoryStore; user: User } {
  const { workflowId, agent, storage } = source;
  if (!storage.memory) {
    throw new DeclarationError(
      `Cannot use memory() in agent ${agent}: its worker has no store for it. Pass one to AgentsPlugin({ blobs }).`,
    );
  }
  const user: User = {
    actor: agent,
    run: { workflowId, runId },
    use: async (use, act) => await useInStep(key, use, act, retry),
    goOnAfter: (use, scope) => presentLoop().goOnAfter({ ...stepOfUse(key, use), scope }),
  };
  return { store: storage.memory, user };
}

function presentLoop(): Loop {
  const position = currentPosition();
  if (position) return position.loop;
  throw new DeclarationError(
    'Cannot use memory() outside a run, or in the body of a tool or step, which is a step itself. Use new MemoryStore(blobs).getOrCreate(key), with the blobs that the worker has.',
  );
}

/** A use of memory as a step. */
function stepOfUse(key: string, { what, path, request }: Use) {
  return {
    kind: 'step' as const,
    name: `memory.${what}${path === undefined ? '' : ` ${path}`}`,
    request: { key, path, request },
  };
}

async function useInStep<T>(
  key: string,
  asked: Use,
  act: (attempt: Attempt, step?: string) => Promise<T>,
  retry: RetryPolicy = PATIENT,
): Promise<T> {
  presentLoop(); // what was got in a run may be used elsewhere
  const askedAt = Date.now();
  return await askStep<T>({
    ...stepOfUse(key, asked),
    options: { retry, startToCloseTimeout: TIMEOUT },
    closure: async (_signal, again, id) => {
      try {
        const attempt = { id, since: writtenSince(askedAt, again) };
        const value = await act(attempt, stepOf(attempt));
        return value === undefined ? {} : { value };
      } catch (error) {
        throw toApplicationFailure(error);
      }
    },
  });
}

/** The step's key, of what is the same for every attempt of it. */
function stepOf({ id }: Attempt): string {
  return id.slice(id.indexOf(':') + 1);
}
