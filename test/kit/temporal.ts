/** The shared dev server: a client for it, and histories read from it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowHandle,
} from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { temporal } from '@temporalio/proto';

export type History = temporal.api.history.v1.IHistory;
export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

export const workflowBundle = {
  codePath: fileURLToPath(new URL('../../.cache/workflow-bundle.cjs', import.meta.url)),
};

export function address(): string {
  return process.env['KIT_TEMPORAL_ADDRESS']!;
}

/** Calls under way, and who made them. */
const underWay = new Set<string>();

const countCalls: Interceptor = (options, next) => {
  const { stack = '' } = new Error(options.method_definition.path);
  return new InterceptingCall(next(options), {
    start(metadata, _listener, begin) {
      underWay.add(stack);
      begin(metadata, {
        onReceiveStatus(status, tell) {
          underWay.delete(stack);
          tell(status);
        },
      });
    },
  });
};

let connected: Promise<Client> | undefined;

/** @param namespace @default 'default' */
export async function client(namespace?: string): Promise<Client> {
  // Histories of the larger tests do not fit the 4 MB that gRPC takes by default.
  const channelArgs = { 'grpc.max_receive_message_length': 64 * 1024 * 1024 };
  connected ??= Connection.connect({
    address: address(),
    channelArgs,
    interceptors: [countCalls, makeGrpcRetryInterceptor(defaultGrpcRetryOptions())],
  }).then((connection) => new Client({ connection }));
  const { connection } = await connected;
  return namespace === undefined ? await connected : new Client({ connection, namespace });
}

/** Lets the test file's process end; fails if a test left calls behind that nobody awaits. */
export async function closeClient(): Promise<void> {
  const left = [...underWay];
  await (await connected)?.connection.close();
  if (left.length > 0) throw new Error(`Calls were still under way:\n${left.join('\n')}`);
}

/** A namespace that the server did not have, once it can be used. */
export async function newNamespace(): Promise<string> {
  const namespace = unique('namespace');
  const { workflowService, workflow } = await client(namespace);
  const workflowExecutionRetentionPeriod = msToTs('1 day');
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  await until(async () => await workflow.count().catch(() => undefined), namespace);
  return namespace;
}

let names = 0;

/** A name no other test has. */
export function unique(what: string): string {
  return `${what}-${process.pid}-${Date.now() % 1e6}-${++names}`;
}

let quieted = false;

/** Logs of the SDK: errors only. */
export function quietRuntime(): void {
  if (!quieted) Runtime.install({ logger: new DefaultLogger('ERROR') });
  quieted = true;
}

/** Waits until a condition holds; fails with what was seen last. */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
  ms = 60_000,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`${what}: did not come within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Histories of all runs of a chain, first to last. */
export async function chainOf(handle: WorkflowHandle & { firstExecutionRunId?: string }): Promise<History[]> {
  const { client: workflow } = handle;
  const histories: History[] = [];
  let runId: string | undefined =
    handle.firstExecutionRunId ??
    (await handle.describe()).raw.workflowExecutionInfo?.firstRunId ??
    undefined;
  while (runId) {
    const history: History = await workflow.getHandle(handle.workflowId, runId).fetchHistory();
    histories.push(history);
    const last: HistoryEvent | undefined = history.events?.at(-1);
    runId = last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return histories;
}

let replaying = Promise.resolve();

/** Replays histories against the workflow bundle; throws at the first that does not. */
export async function assertReplays(histories: History[]): Promise<void> {
  // One after the other: the SDK's runtime ends with the last replay, under whoever begins one just then.
  const turn = replaying.then(() => replay(histories));
  replaying = turn.catch(() => {});
  await turn;
}

async function replay(histories: History[]): Promise<void> {
  quietRuntime();
  for (const history of histories) {
    const id = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
    try {
      await Worker.runReplayHistory({ workflowBundle }, history, id ?? undefined);
    } catch (error) {
      keepHistory(`failed-${unique('replay')}`, history);
      throw error;
    }
    const { name } = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType ?? {};
    if (process.env['RECORD_HISTORIES']) keepHistory(unique(name ?? 'run'), history, recordedHistories);
  }
}

/** Keeps a history under `.cache/histories`, to look at. */
function keepHistory(
  name: string,
  history: History,
  folder = new URL('../../.cache/histories/', import.meta.url),
): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    new URL(`${name}.bin.gz`, folder),
    gzipSync(temporal.api.history.v1.History.encode(history).finish()),
  );
}

/** Histories that guard later changes of the workflow: `RECORD_HISTORIES=1 npm test -- test/contract` adds to them. */
export const recordedHistories = new URL('../histories/', import.meta.url);

export function readHistory(path: URL): History {
  return temporal.api.history.v1.History.decode(gunzipSync(readFileSync(path)));
}

/** Steps scheduled again although an earlier attempt of theirs had completed; over a whole chain. */
export function repeatedSteps(histories: History[]): string[] {
  const done = new Set<string>();
  const repeated: string[] = [];
  for (const { events = [] } of histories) {
    const scheduled = new Map<string, string>();
    for (const event of events ?? []) {
      const start = event.activityTaskScheduledEventAttributes;
      if (start && start.activityType?.name !== 'agents.awaitLoop') {
        const step = start.activityId!.split(':').at(-1)!;
        scheduled.set(String(event.eventId), step);
        if (done.has(step)) repeated.push(step);
      }
      const end = event.activityTaskCompletedEventAttributes;
      if (!end) continue;
      const result = Buffer.from(end.result?.payloads?.[0]?.data ?? []).toString();
      const step = scheduled.get(String(end.scheduledEventId));
      if (step !== undefined && result !== '{"moved":true}') done.add(step);
    }
  }
  return repeated;
}

/** Events of a kind, by the name of their attributes without `EventAttributes`. */
export function eventsOf(histories: History[], kind: string): HistoryEvent[] {
  const field = `${kind}EventAttributes` as keyof HistoryEvent;
  return histories.flatMap(({ events }) => (events ?? []).filter((event) => event[field]));
}

/** Bytes of a history as the server counts them. */
export async function historyBytes(handle: WorkflowHandle): Promise<number> {
  return Number((await handle.describe()).raw.workflowExecutionInfo?.historySizeBytes);
}
