import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ANSWER_THRESHOLD } from '../src/blobs/answer-blobs.ts';
import type { RunStorage } from '../src/blobs/run-storage.ts';
import { toApplicationFailure } from '../src/errors/failure.ts';
import { AgentError } from '../src/errors/index.ts';
import { assertFits } from '../src/loop/recordable.ts';
import type { AnswerBlob } from '../src/protocol/step.ts';
import { jsonBytes } from '../src/records/run-records.ts';

/** An answer is paid for: a store that is away is given two minutes to come back. Milliseconds. */
const WAITS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 30_000, 30_000];

/**
 * The answer to a step as it goes into the history: a large one is kept in the blob store, and only where it is goes along.
 * @param what whose answer it is, for the message
 * @throws ApplicationFailure: of a PayloadTooLargeError, if there is no store and no server would take it; of a BlobStoreError
 */
export async function storedAnswer<T extends { value?: unknown }>(
  { answers, maxPayloadBytes }: RunStorage,
  chain: string,
  answer: T,
  what: string,
): Promise<T & { blob?: AnswerBlob }> {
  try {
    assertFits(answer.value, what, maxPayloadBytes);
    if (!answers || jsonBytes(answer.value) < ANSWER_THRESHOLD) return answer;
    const { info, client } = Context.current();
    const { workflowId } = info.workflowExecution!;
    const owner = { namespace: info.activityNamespace, workflowId, chain };
    const { value, ...rest } = answer;
    const keep = async () => await answers.keep(owner, value, client.options.loadedDataConverter);
    return { ...(rest as T), blob: await patiently(keep) };
  } catch (error) {
    throw toApplicationFailure(error);
  }
}

async function patiently<T>(keep: () => Promise<T>): Promise<T> {
  const { cancellationSignal: signal } = Context.current();
  for (const wait of WAITS) {
    try {
      return await keep();
    } catch (error) {
      if (!AgentError.is(error) || !error.retryable) throw error;
    }
    await delay(wait, undefined, { signal });
  }
  return await keep();
}
