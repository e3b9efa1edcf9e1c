import type { WorkflowHandle } from '@temporalio/client';

/** How often the run sent a model turn to the provider, read from its history: the n-th turn, and its attempts. */
export async function turnStarts(
  handle: WorkflowHandle,
): Promise<{ answered: number; started: number; askedAgain: number[] }> {
  const { events } = await handle.fetchHistory();
  const turnOf = new Map<string, string>();
  const starts = new Map<string, number>();
  const answered = new Set<string>();
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === 'agents.turn')
      turnOf.set(String(event.eventId), scheduled.activityId!);
    const started = event.activityTaskStartedEventAttributes;
    const turn = turnOf.get(String(started?.scheduledEventId ?? ''));
    if (turn !== undefined) starts.set(turn, (starts.get(turn) ?? 0) + 1);
    const completed = event.activityTaskCompletedEventAttributes;
    const done = turnOf.get(String(completed?.scheduledEventId ?? ''));
    if (done === undefined) continue;
    const result = Buffer.from(completed?.result?.payloads?.[0]?.data ?? []).toString();
    // A worker that does not hold the loop passes the turn on; it called nobody.
    if (result === '{"moved":true}') starts.set(done, (starts.get(done) ?? 1) - 1);
    else answered.add(done);
  }
  const counts = [...starts.values()];
  return {
    answered: answered.size,
    started: counts.reduce((sum, count) => sum + count, 0),
    askedAgain: counts.flatMap((count, i) => (count > 1 ? [i + 1] : [])),
  };
}
