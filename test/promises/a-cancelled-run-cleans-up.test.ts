import { expect, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import type { WorkflowFailedError } from '@temporalio/client';
import { scene } from '../kit/scene.ts';
import { until } from '../kit/temporal.ts';

/** A booking that has reserved two rooms and waits, its worker, and what happened. */
async function waitingBooking(env: Record<string, string> = {}) {
  const stage = await scene('cancel-agents', { plugin: { parkAfter: 1_000 }, env });
  const host = await stage.spawn();
  const handle = await stage.start('booking');
  await until(async () => (await handle.query<unknown[]>('records')).length === 2, 'both rooms reserved');
  return { ...stage, handle, host };
}

async function cancelledIn(handle: { result(): Promise<unknown> }): Promise<void> {
  const error = (await handle.result().catch((failure: unknown) => failure)) as WorkflowFailedError;
  expect(error.cause).toBeInstanceOf(CancelledFailure);
}

const CLEAN = {
  'reserve 1': 1,
  'reserve 2': 1,
  'notice begins': 1,
  'notice sent': 1,
  'release 1': 1,
  'release 2': 1,
};

test('a live loop gives back all that it has reserved, and the run ends as cancelled', async () => {
  await using stage = await waitingBooking();
  await stage.handle.cancel();
  await cancelledIn(stage.handle);
  expect(stage.tally()).toEqual(CLEAN);
});

test('so does a loop that was dropped while it waited, and is built to be cancelled', async () => {
  await using stage = await waitingBooking();
  await stage.host.kill();
  await stage.spawn();
  await stage.handle.cancel();
  await cancelledIn(stage.handle);
  expect(stage.tally()).toEqual(CLEAN);
});

test('a worker that dies during the clean-up leaves the rest of it to the next', async () => {
  await using stage = await waitingBooking({ NOTICE_MS: '3000' });
  await stage.handle.cancel();
  await until(() => stage.tally()['notice begins'], 'the clean-up has begun');
  await stage.host.kill();
  await stage.spawn();
  await cancelledIn(stage.handle);
  expect(stage.tally()).toEqual({ ...CLEAN, 'notice begins': 2 });
});
