/** What the server says of the workflow task under which a loop is asked to go on. */
import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { tsToMs } from '@temporalio/common/lib/time.js';

/** `temporal.api.enums.v1.PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED`: no worker has it yet. */
const SCHEDULED = 1;

/** `temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES`. */
const BAD_SEARCH_ATTRIBUTES = 23;

/** Connections to servers that were seen to tell of a run's task. */
const tellsOfTasks = new WeakSet<object>();

/** The run that asks, and a client to reach it. */
export interface RunContact {
  runId: string;
  workflowId: string;
  client: Client;
}

export interface CurrentTask {
  /** Which attempt it is. */
  attempt: number;
  /** It is the one under which this was asked, or a later one that took over from it in good order. */
  isOurs: boolean;
}

/**
 * Looks up the run's present task.
 *
 * A task can be over while its local activity still runs: it timed out under a process that stood still, the server
 * ended it because more than 100 events or 2 MB waited behind it, or it never was one, but a query for which a worker replayed
 * events that no task has taken yet. Core (SDK 1.24) then puts the next task on top of state that the history does not
 * have, and a replay cannot follow. An answer of `again`, though, means the same in whatever order the events come.
 * @param historyLength the history's length as the workflow saw it: it ends with the start of the task
 */
export async function currentTask(contact: RunContact, historyLength: number): Promise<CurrentTask> {
  const { client, workflowId, runId } = contact;
  const description = await client.workflow.getHandle(workflowId, runId).describe();
  const task = description.raw.pendingWorkflowTask;
  if (!task) {
    // Between two tries there is none. But time-skipping servers never tell, and what an ended run answers is of no
    // consequence.
    const between = tellsOfTasks.has(client.connection) && description.status.name === 'RUNNING';
    return { attempt: 1, isOurs: !between };
  }
  tellsOfTasks.add(client.connection);
  const attempt = task.attempt ?? 1;
  if (Number(task.state) === SCHEDULED) return { attempt, isOurs: false };
  // While a task is under way nothing is added to the history, so a longer one is that of a later task.
  if (description.historyLength <= historyLength) return { attempt, isOurs: true };
  return { attempt, isOurs: await wasHandedOn(contact, historyLength) };
}

/** Core hands a task on by completing it and taking a new one, while a local activity takes long. */
async function wasHandedOn(
  { client, workflowId, runId }: RunContact,
  historyLength: number,
): Promise<boolean> {
  const events = await lastEvents({ client, workflowId, runId });
  const since = events.filter(({ eventId }) => Number(eventId) > historyLength);
  const completed = since.find(
    ({ eventId }) => Number(eventId) === historyLength + 1,
  )?.workflowTaskCompletedEventAttributes;
  return (
    completed != null &&
    !since.some(
      (event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes,
    )
  );
}

/**
 * Since when the tasks of this run have failed, in milliseconds since 1970. What the server tells of a pending task
 * begins anew with each attempt, so this reads the last events: the first failure after the last task that was completed.
 */
export async function failingSince(contact: RunContact): Promise<number> {
  let since = Date.now();
  for (const event of await lastEvents(contact)) {
    if (event.workflowTaskCompletedEventAttributes) break;
    if (event.workflowTaskFailedEventAttributes) since = tsToMs(event.eventTime);
  }
  return since;
}

/**
 * The server refused the run's last task because of its search attributes: they were removed, or some of its parts do not
 * know yet that they were added.
 */
export async function refusedAttributes(contact: RunContact): Promise<boolean> {
  for (const event of await lastEvents(contact)) {
    if (event.workflowTaskCompletedEventAttributes) return false;
    if (Number(event.workflowTaskFailedEventAttributes?.cause) === BAD_SEARCH_ATTRIBUTES) return true;
  }
  return false;
}

/** The last events of a run, last first. */
async function lastEvents({
  client,
  workflowId,
  runId,
}: RunContact): Promise<NonNullable<History['events']>> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 100,
  });
  return history?.events ?? [];
}
