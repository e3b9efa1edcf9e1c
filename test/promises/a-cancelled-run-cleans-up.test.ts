import { expect, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import type { WorkflowFailedError } from '@temporalio/client';
import { effects, newEffects, tally } from '../kit/effects.ts';
import { client, unique, until } from '../kit/temporal.ts';
import { QUICK_PLUGIN, QUICK_START, QUICK_WORKER, spawnWorker } from '../kit/workers.ts';

const module = new URL('../fixtures/cancel-agents.ts', import.meta.url).href;

/** A booking that has reserved two rooms and waits, its worker, and what happened. */
async function waitingBooking(env: Record<string, string> = {}) {
  const taskQueue = unique('booking');
  const log = newEffects();
  const options = {
    module,
    taskQueue,
    plugin: { ...QUICK_PLUGIN, parkAfter: 1_000 },
    worker: QUICK_WORKER,
    env: { EFFECTS: log, ...env },
  };
  const host = await spawnWorker(options);
  const { workflow } = await client();
  const handle = await workflow.start('booking', { taskQueue, workflowId: taskQueue, ...QUICK_START });
  await until(async () => (await handle.query<unknown[]>('records')).length === 2, 'both rooms reserved');
  return { handle, host, log, restart: async () => await spawnWorker(options) };
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
  const { handle, host, log } = await waitingBooking();
  await handle.cancel();
  await cancelledIn(handle);
  await host.kill();
  expect(tally(log)).toEqual(CLEAN);
});

test('so does a loop that was dropped while it waited, and is built to be cancelled', async () => {
  const { handle, host, log, restart } = await waitingBooking();
  await host.kill();
  const next = await restart();
  await handle.cancel();
  await cancelledIn(handle);
  await next.kill();
  expect({ ...tally(log), killed: undefined }).toEqual(CLEAN);
});

test('a worker that dies during the clean-up leaves the rest of it to the next', async () => {
  const { handle, host, log, restart } = await waitingBooking({ NOTICE_MS: '3000' });
  await handle.cancel();
  await until(() => effects(log).some(({ what }) => what === 'notice begins'), 'the clean-up has begun');
  await host.kill();
  const next = await restart();
  await cancelledIn(handle);
  await next.kill();
  expect(tally(log)).toEqual({ ...CLEAN, 'notice begins': 2 });
});
