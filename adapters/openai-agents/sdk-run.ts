/** In which run of the SDK the running code is. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Session } from '@openai/agents';
import { insideRun } from '../../src/loop/ask.ts';
import type { RunExchange } from './exchange.ts';
import type { Resume } from './streamed.ts';

/** One `run()` of the SDK, as far as its seams must know it. */
interface SdkRun {
  session?: Session | undefined;
  /** Of a session that is one of ours; it ends with the run. */
  exchange?: RunExchange | undefined;
  /** Goes on with a streamed one; not with a nested one, whose approvals surface at the top. */
  resume?: Resume | undefined;
}

const running = new AsyncLocalStorage<SdkRun>();

/** Runs code as part of a run of the SDK. */
export function withinSdkRun<T>(run: SdkRun, body: () => T): T {
  return running.run(run, body);
}

/**
 * The run of the SDK whose steps are recorded now. Not the agent's own code beside it: whether that meets an
 * instrumented object would depend on what ran in this process before.
 */
export function currentSdkRun(): SdkRun | undefined {
  return insideRun() ? running.getStore() : undefined;
}
