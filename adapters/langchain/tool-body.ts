/** The body of a framework's tool is one step, unless it runs a graph: from there on it is made of steps. Of a node and a backend it is one. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type LoopPosition, runAt, runOutside } from '../../src/loop/current-loop.ts';

interface Body {
  /** Where the graphs it runs stand in the run, and what it writes to a store. */
  position: LoopPosition;
  /** Before it runs the first graph. @default graphs are part of the body */
  beforeGraph?(): Promise<void>;
}

const running = new AsyncLocalStorage<Body | undefined>();

/** Runs a tool's body: what it calls are plain calls, but for graphs. */
export function runBody<T>(body: Body, call: () => T): T {
  return running.run(body, () => runOutside(call));
}

/** The body of a tool that the running code is in. */
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
