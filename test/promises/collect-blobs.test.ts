import { expect, test } from '@jest/globals';
import { collectBlobs, fork, MemoryStore } from '../../src/index.ts';
import { type BlobScene, blobScene } from '../kit/blob-scene.ts';
import { unique, until } from '../kit/temporal.ts';

const MB = 1024 * 1024;
const sizes = async (stage: BlobScene) => (await stage.kept()).map((size) => Math.round(size / MB));
const collect = async (stage: BlobScene, dryRun = false) =>
  await collectBlobs(stage.client, stage.store, { olderThan: '1 ms', dryRun });

/** Has the server forget a run, as it does when its retention is over. */
async function forget({ client }: BlobScene, workflowId: string, runId: string): Promise<void> {
  const { namespace } = client.options;
  await client.workflowService.deleteWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
  });
  const isKnown = async () => {
    try {
      await client.workflow.getHandle(workflowId, runId).describe();
      return true;
    } catch {
      return false;
    }
  };
  await until(async () => !(await isKnown()), 'forgotten');
}

test.concurrent('what a run kept is removed once the server has forgotten it; of an id that is used again, chain by chain', async () => {
  await using stage = await blobScene('payload-agents');
  await stage.spawn();
  const workflowId = unique('again');
  const first = await stage.start('gathers', 1, workflowId);
  await first.result();
  const second = await stage.start('gathers', 1, workflowId);
  await second.result();
  await stage.start('gathers', 1).then(async (handle) => await handle.result());
  expect(await sizes(stage)).toEqual([3, 3, 3]);
  expect(await collect(stage)).toEqual({ blobs: 0, bytes: 0 });

  await forget(stage, workflowId, first.firstExecutionRunId);
  expect(await collect(stage, true)).toMatchObject({ blobs: 1 });
  expect(await sizes(stage)).toEqual([3, 3, 3]);
  expect(await collectBlobs(stage.client, stage.store)).toEqual({ blobs: 0, bytes: 0 });
  const collected = await collect(stage);
  expect([collected.blobs, Math.round(collected.bytes / MB)]).toEqual([1, 3]);
  expect(await sizes(stage)).toEqual([3, 3]);

  await forget(stage, workflowId, second.firstExecutionRunId);
  await until(async () => (await collect(stage)).blobs > 0, 'the other chain');
  expect(await sizes(stage)).toEqual([3]);
});

test.concurrent('what a fork began with stays as long as the fork, and memory stays for ever', async () => {
  await using stage = await blobScene('payload-agents');
  await stage.spawn();
  const memory = new MemoryStore(stage.store).getOrCreate('ann');
  await memory.writeText('name.txt', 'Ann', { actor: 'test', reason: 'for ever' });
  const handle = await stage.start('gathers', 2);
  await handle.result();
  const forked = await fork(stage.client, handle.workflowId, { workflowId: unique('fork'), keep: 2 });
  await forked.result();
  await forget(stage, handle.workflowId, handle.firstExecutionRunId);
  expect((await collect(stage)).blobs).toBe(0);
  expect((await sizes(stage)).filter((size) => size === 3)).toHaveLength(1);
  await forget(stage, forked.workflowId, forked.firstExecutionRunId);
  await until(async () => (await collect(stage)).blobs > 0, 'nobody reads it');
  await collect(stage);
  expect((await sizes(stage)).filter((size) => size === 3)).toHaveLength(0);
  expect(await memory.readText('name.txt')).toBe('Ann');
});
