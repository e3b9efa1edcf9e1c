/** What a run left in the server: sizes over all that it continued as, and events by who made them. */
import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import type { Run } from './stage.ts';

/** An event of a history. */
export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** Size of the histories of a run and of those it continued as. */
export interface ChainSize {
  histories: number;
  bytes: number;
  events: number;
  /** Model turns and calls of tools, by the activities that were completed. */
  activities: number;
}

/** The histories of a run and of those it continued as, first to last. */
async function chainOf(client: Client, run: Run): Promise<{ runId: string; events: HistoryEvent[] }[]> {
  const chain = [];
  let runId: string | undefined = run.firstExecutionRunId;
  while (runId) {
    const { events } = await client.workflow.getHandle(run.workflowId, runId).fetchHistory();
    chain.push({ runId, events: events ?? [] });
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return chain;
}

/** Measures them. */
export async function chainSize(client: Client, run: Run): Promise<ChainSize> {
  const size: ChainSize = { histories: 0, bytes: 0, events: 0, activities: 0 };
  for (const { runId, events } of await chainOf(client, run)) {
    const { raw } = await client.workflow.getHandle(run.workflowId, runId).describe();
    size.histories++;
    size.bytes += Number(raw.workflowExecutionInfo?.historySizeBytes);
    size.events += events.length;
    size.activities += events.filter((event) => event.activityTaskCompletedEventAttributes).length;
  }
  return size;
}

/** All events of a run and of those it continued as. */
export async function eventsOf(client: Client, run: Run): Promise<HistoryEvent[]> {
  return (await chainOf(client, run)).flatMap(({ events }) => events);
}

/** When an event happened, in milliseconds since the epoch. */
function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}

/** Whether an event was made by a process: the SDK's workers say `<process id>@<machine>`. */
function madeBy(event: HistoryEvent, pid: number): boolean {
  const attributes = event.workflowTaskStartedEventAttributes ?? event.activityTaskStartedEventAttributes;
  return attributes?.identity?.startsWith(`${pid}@`) ?? false;
}

/** Milliseconds from the first workflow task of a process to the first activity that came of it. */
export function rebuildMs(events: readonly HistoryEvent[], pid: number): number {
  const task = events.findIndex((event) => event.workflowTaskStartedEventAttributes && madeBy(event, pid));
  const next = events.slice(task).find((event) => typeOf(event) && typeOf(event) !== WATCH);
  return task === -1 || next === undefined ? Number.NaN : timeOf(next) - timeOf(events[task]!);
}

/** When the first turn or tool was started after a time; by a process, if one is given. */
export function firstActivityAfter(events: readonly HistoryEvent[], after: number, pid?: number): number {
  const watches = new Set(
    events.filter((event) => typeOf(event) === WATCH).map(({ eventId }) => String(eventId)),
  );
  const times = events
    .filter(({ activityTaskStartedEventAttributes: started }) => {
      return started && !watches.has(String(started.scheduledEventId));
    })
    .filter((event) => pid === undefined || madeBy(event, pid))
    .map(timeOf);
  return Math.min(...times.filter((time) => time >= after));
}

/** Says which turns and tools were begun more often than they were answered, whether tried or scheduled again. */
export function begunAgain(events: readonly HistoryEvent[]): string[] {
  const types = new Map(events.map((event) => [String(event.eventId), typeOf(event)]));
  const begun = new Map<string, number>();
  const answered = new Map<string, number>();
  for (const event of events) {
    const start = event.activityTaskStartedEventAttributes;
    const answer = event.activityTaskCompletedEventAttributes;
    const type = types.get(String((start ?? answer)?.scheduledEventId));
    if (!type || type === WATCH) continue;
    if (start) begun.set(type, (begun.get(type) ?? 0) + (start.attempt ?? 1));
    else answered.set(type, (answered.get(type) ?? 0) + 1);
  }
  return [...begun]
    .filter(([type, times]) => times > (answered.get(type) ?? 0))
    .map(([type, times]) => `${type} begun ${times} times for ${answered.get(type) ?? 0} answers`);
}

/** An activity of temporal-agents that is no step: it watches the process that holds a loop. */
const WATCH = 'agents.awaitLoop';

function typeOf(event: HistoryEvent): string | null | undefined {
  return event.activityTaskScheduledEventAttributes?.activityType?.name;
}
