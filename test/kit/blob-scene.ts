/** A scene whose workers, and a client, have one blob store. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { FileStore } from '../../src/blobs/file-store.ts';
import { BlobsPlugin } from '../../src/index.ts';
import { type Scene, scene, type SceneOptions } from './scene.ts';
import { client, unique } from './temporal.ts';
import { QUICK_START } from './workers.ts';

export interface BlobScene extends Scene {
  /** The folder of the store, and its URL. */
  root: string;
  blobs: string;
  store: FileStore;
  /** A client that reads the store. */
  client: Client;
  start(agent: string, input?: unknown, workflowId?: string): Promise<WorkflowHandleWithFirstExecutionRunId>;
  /** Sizes of what is kept, in bytes, smallest first. */
  kept(): Promise<number[]>;
}

export async function blobScene(fixture: string, options: SceneOptions = {}): Promise<BlobScene> {
  const root = join(mkdtempSync(join(tmpdir(), 'blobs-')), 'store');
  const blobs = pathToFileURL(root).href;
  const store = new FileStore(root);
  const stage = await scene(fixture, { ...options, plugin: { blobs, ...options.plugin } });
  const { connection } = await client();
  const own = new Client({ connection, plugins: [new BlobsPlugin({ blobs })] });
  const start = async (agent: string, input?: unknown, workflowId = unique(agent)) =>
    await own.workflow.start(agent, {
      taskQueue: stage.taskQueue,
      workflowId,
      args: [input],
      ...QUICK_START,
    });
  const kept = async () => {
    const sizes: number[] = [];
    for await (const { key, size } of store.list(''))
      if (!/\/(owner|readers\/.*)$/.test(key)) sizes.push(size);
    return sizes.toSorted((a, b) => a - b);
  };
  return Object.assign(stage, { root, blobs, store, client: own, start, kept });
}
