/** What a session keeps is read and written by steps: a restart does not read what its own crashed attempt wrote. */
import type { AgentInputItem, Session } from '@openai/agents';
import { toApplicationFailure } from '../../src/errors/failure.ts';
import { askStep, scopeKey } from '../../src/loop/ask.ts';
import { perLoop } from '../../src/loop/per-loop.ts';
import { currentPosition } from '../../src/loop/current-loop.ts';
import { digest } from '../../src/loop/fingerprint.ts';
import { PATIENT, writtenSince } from '../../src/memory/run-memory.ts';
import { keepContext } from '../keep-context.ts';
import { patchMethod } from '../patch-method.ts';
import { plainJson } from '../plain-json.ts';
import { ConversationSession } from './conversation-session.ts';
import { inOneBlock } from './run-exchange.ts';
import { currentSdkRun } from './sdk-run.ts';

/** Any session; those that compact themselves give receipts for what was read from them. */
type AnySession = Session & {
  getItemsWithCompactionOwnership?(): Promise<{ items: AgentInputItem[]; ownership: object }>;
  /** Where a session that wraps another one keeps its items. */
  underlyingSession?: Session;
  /** Most of them show their id. */
  sessionId?: unknown;
};
type Call = (...args: unknown[]) => Promise<unknown>;

/** The methods that read or write what is kept, and whether their first argument says what. Others only compute. */
const METHODS: Record<string, boolean> = {
  getSessionId: false,
  getItems: true,
  addItems: true,
  popItem: false,
  clearSession: false,
  replaceHistoryWithCompaction: true,
  applyHistoryMutations: true,
  applyHistoryTransaction: true,
  getItemsWithCompactionOwnership: false,
  addItemsWithCompactionOwnership: true,
  runCompaction: true,
};
const RETRIES = 2;

/** What tells a run's sessions apart, by the loop of the run. */
const seen = perLoop(() => new Map<object, string>());
const madeIn = new WeakMap<object, object>();

/**
 * Has the steps of a run keep a session, if the runs of the SDK in which it takes part are recorded.
 * @returns why that cannot be, if it cannot
 */
export function instrumentSession(
  session: AnySession,
  isMemory: (session: object) => boolean,
): string | undefined {
  // Its methods make steps themselves.
  if (session instanceof ConversationSession) return undefined;
  const { loop } = currentPosition()!;
  // It is filled again by what runs again; its methods are no steps.
  if (isMemory(session)) {
    const first = madeIn.get(session) ?? loop;
    madeIn.set(session, first);
    if (first !== loop) return 'its MemorySession is not of this run alone. Make it in the agent function.';
    return undefined;
  }
  if (session.underlyingSession && isMemory(session.underlyingSession))
    return 'its session keeps its items in memory. Give it an underlyingSession that outlives the process.';
  if (
    session.underlyingSession instanceof ConversationSession &&
    session.underlyingSession.whenBusy === 'fork'
  )
    return 'a session that compacts itself writes more than once. Use another "whenBusy" than "fork".';
  if ('sessionId' in session && session.sessionId === undefined)
    return 'its session would begin another conversation after a restart. Begin it in a step, and give the session its id.';
  const identities = seen(loop);
  const identity = typeof session.sessionId === 'string' ? session.sessionId : `${identities.size + 1}`;
  if (!identities.has(session)) identities.set(session, identity);
  for (const name of Object.keys(METHODS)) {
    patchMethod(session, name, (method) => {
      return function (this: AnySession, ...args) {
        const call = (...own: unknown[]) => method.apply(this, own) as Promise<unknown>;
        return currentSdkRun()?.session === this ? keep(this, name, call, args) : call(...args);
      };
    });
  }
  return undefined;
}

async function keep(session: AnySession, name: string, call: Call, args: unknown[]): Promise<unknown> {
  const { loop } = currentPosition()!;
  const { operationId, ...what } = METHODS[name] ? asked(args[0]) : {};
  const request = { session: seen(loop).get(session), ...what };
  const operation = operationId !== undefined && `${loop.runId}/${scopeKey('session', name, request)}`;
  const ours = session.underlyingSession instanceof ConversationSession && session.underlyingSession;
  const askedAt = Date.now();
  return await askStep({
    kind: 'step',
    name: `session.${name}`,
    request,
    // A store is given time to come back; a provider that compacts fails as others do.
    options: { retry: ours && name !== 'runCompaction' ? PATIENT : { maximumAttempts: RETRIES + 1 } },
    closure: keepContext(async (_signal, again, id) => {
      try {
        if (
          again &&
          !ours &&
          name.startsWith('addItems') &&
          (await endsWith(session, args[0] as AgentInputItem[]))
        )
          return {};
        const own = [...args];
        // The SDK makes up another after a restart, when the session is to know it again.
        if (operation) own[0] = { ...(args[0] as object), operationId: operation };
        const act = async () => {
          // A receipt is good in the process that got it.
          const receipt = { addItemsWithCompactionOwnership: 1, runCompaction: 2 }[name];
          if (receipt && own[receipt])
            own[receipt] = (await session.getItemsWithCompactionOwnership!()).ownership;
          return await call(...own);
        };
        const attempt = { id, since: writtenSince(askedAt, again) };
        const answer = await (ours ? inOneBlock(ours, loop, attempt, act) : act());
        return answer === undefined ? {} : { value: plainJson(answer) };
      } catch (error) {
        throw toApplicationFailure(error);
      }
    }),
  });
}

/** An argument's fields, of which the SDK's id of an operation is not the request. */
function asked(argument: unknown): { operationId?: unknown; [field: string]: unknown } {
  const isObject = typeof argument === 'object' && argument !== null && !Array.isArray(argument);
  return isObject ? { ...argument } : { argument };
}

/** Whether an attempt of which nobody heard has added these items. */
async function endsWith(session: AnySession, items: AgentInputItem[]): Promise<boolean> {
  const comparable = (each: AgentInputItem[]) =>
    session.prepareHistoryItemsForPersistenceComparison?.(structuredClone(each)) ?? each;
  const last = await session.getItems(items.length);
  return items.length > 0 && digest(comparable(last)) === digest(comparable(items));
}
