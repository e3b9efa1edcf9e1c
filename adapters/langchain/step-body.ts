/**
 * The bodies of steps that are a framework's code: of tools, nodes and backends. What they call is part of the step, but for
 * graphs that a tool runs: from the first one on it is made of steps.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type LoopPosition, runAt, runOutside } from '../../src/loop/current-loop.ts';

interface Body {
  /** Where the graphs it runs stand in the run, and what it writes to a store. */
  position: LoopPosition;
  /** Before it runs the first graph. @default graphs are part of the body */
  beforeGraph?(): Promise<void>;
}

const running = new AsyncLocalStorage<Body | undefined>();

/** Runs the body of a step: what it calls are plain calls, but for graphs. */
export function runBody<T>(body: Body, call: () => T): T {
  return running.run(body, () => runOutside(call));
}

/** Runs a body again that is made of steps: graphs have their answers, and whatever else it calls is a step now. */
export function runBodyAgain<T>(position: LoopPosition, call: () => T): T {
  // In a scope of its own: what its graphs ask is to have the same keys as when these were plain calls.
  const again = { ...position, scope: `${position.scope}/again` };
  return running.run({ position, beforeGraph: async () => {} }, () => runAt(again, call));
}

/** The body that the running code is in. */
export function currentBody(): Body | undefined {
  return running.getStore();
}

/** Runs a graph that the body of a tool calls as part of the run; `undefined`: the running code is no such body. */
export function graphInBody<T>(run: () => Promise<T>): Promise<T> | undefined {
  const body = running.getStore();
  if (!body?.beforeGraph) return undefined;
  const inRun = async () => {
    await body.beforeGraph!();
    return await runAt(body.position, run);
  };
  return running.run(undefined, inRun);
}
