/** The activities of a worker: what runs on the agents' task queue, and what on the host's own. */
import type { RunStorage } from '../src/blobs/run-storage.ts';
import type { LoopHost } from '../src/loop/loop-host.ts';
import { ADVANCE, AWAIT_LOOP, CALL, LAST_RUN, NOTED, READ_RUN, STEP, TURN } from '../src/protocol/names.ts';
import type { Tool } from '../src/tools/tool-options.ts';
import { createAdvance, createAwaitLoop } from './advance.ts';
import { createCall } from './call.ts';
import { createReadRun, lastRun } from './read-run.ts';
import { createToolActivity } from './tool-activity.ts';

type Activities = Record<string, (...args: any[]) => Promise<unknown>>;

/** Activities on the task queue that the agents' runs use. */
export function sharedActivities(host: LoopHost): Activities {
  const call = createCall(host);
  return {
    [ADVANCE]: createAdvance(host),
    [TURN]: call,
    [STEP]: call,
    [CALL]: call,
    [READ_RUN]: createReadRun(host.storage),
    [LAST_RUN]: lastRun,
    [NOTED]: async () => {},
  };
}

/** Activities on the queue that only the process with the loops polls. */
export function hostActivities(host: LoopHost): Activities {
  const call = createCall(host);
  return { [TURN]: call, [STEP]: call, [CALL]: call, [AWAIT_LOOP]: createAwaitLoop(host) };
}

/** One activity a tool, by the tool's name; not for those that suspend, which are workflows. */
export function toolActivities(
  tools: Iterable<Tool<any, any, any>>,
  storage: RunStorage,
  host?: LoopHost,
): Activities {
  return Object.fromEntries(
    [...tools]
      .filter(({ options: { suspends } }) => !suspends)
      .map((tool) => [tool.options.name, createToolActivity(tool, storage, host)]),
  );
}
