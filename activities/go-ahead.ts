import { Context } from '@temporalio/activity';
import type { LoopHost } from '../src/loop/loop-host.ts';
import { fits } from '../src/loop/recordable.ts';
import { withWorstCosts } from '../src/prices/price-turns.ts';
import type { Ahead } from '../src/protocol/advance.ts';

/**
 * What the loop of the present activity's run asks once it has the answer to this step, if it is here and waits for
 * nothing else: sent along with the answer, that saves the run asking for it.
 */
export async function goAhead(
  host: LoopHost,
  key: string,
  answer: { value?: unknown },
): Promise<Ahead | undefined> {
  const { client, info } = Context.current();
  const { payloadConverter } = client.options.loadedDataConverter;
  // The loop gets what it will get from the record.
  const recorded = () =>
    payloadConverter.fromPayload<typeof answer>(payloadConverter.toPayload(answer)).value;
  const ahead = await host.goAhead(info.workflowExecution!.runId, key, recorded);
  if (!ahead || !fits([answer, ahead], host.storage.maxPayloadBytes)) return undefined;
  return { ...ahead, next: await withWorstCosts(host.prices, ahead.next) };
}
