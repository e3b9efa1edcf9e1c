import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { ANSWER_THRESHOLD } from '../src/blobs/answer-blobs.ts';
import type { RunStorage } from '../src/blobs/run-storage.ts';
import { BlobStoreError } from '../src/errors/index.ts';
import { toApplicationFailure } from '../src/errors/failure.ts';
import { assertFits } from '../src/loop/recordable.ts';
import type { AnswerBlob } from '../src/protocol/step.ts';
import { NOT_KEPT } from '../src/records/outcomes.ts';
import { jsonBytes } from '../src/records/run-records.ts';

/**
 * The answer to a step as it goes into the history: a large one is kept in the blob store, and only where it is goes along.
 * @param what whose answer it is, for the message
 * @throws ApplicationFailure: of a PayloadTooLargeError, if there is no store and no server would take it; `NOT_KEPT`
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
    const { info, client, cancellationSignal } = Context.current();
    const { workflowId } = info.workflowExecution!;
    const owner = { namespace: info.activityNamespace, workflowId, chain };
    const { value, ...rest } = answer;
    const { loadedDataConverter } = client.options;
    const blob = await answers.keep(owner, value, loadedDataConverter, cancellationSignal);
    return { ...(rest as T), blob };
  } catch (error) {
    // What was done must not be done again just so.
    if (error instanceof BlobStoreError) throw ApplicationFailure.retryable(error.message, NOT_KEPT);
    throw toApplicationFailure(error);
  }
}
