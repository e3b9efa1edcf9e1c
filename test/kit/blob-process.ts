/** A store of blobs that is used in another process, which can be killed, limited or run as another user. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BlobCall, BlobReply } from './blob-process-main.ts';

export interface BlobProcessOptions {
  /** A command that runs the one given as its last arguments, with less. */
  within?: string[];
  /** The user it becomes once it has loaded, if it is root. */
  userId?: number;
}

export interface BlobProcess {
  /** Calls a method of the store there. An error comes as what is told of it. */
  call(method: BlobCall['method'], key: string, bytes?: Uint8Array): Promise<BlobReply>;
  /** Ends it at once; resolves when it is gone. */
  kill(): Promise<void>;
}

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Starts a process that opens the store; resolves when it has. */
export async function spawnBlobs(url: string, options: BlobProcessOptions = {}): Promise<BlobProcess> {
  const main = fileURLToPath(new URL('./blob-process-main.ts', import.meta.url));
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', main];
  const [command, ...args] = [...(options.within ?? []), ...node];
  const child = spawn(command!, args, {
    env: { ...process.env, KIT_BLOBS: url, KIT_USER: String(options.userId ?? '') },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  living.add(child);
  const gone = once(child, 'exit').then(() => living.delete(child));
  await Promise.race([
    once(child, 'message'),
    gone.then(() => {
      throw new Error('The process of a store ended before it had opened it.');
    }),
  ]);
  return {
    call: async (method, key, bytes) => {
      child.send({ method, key, ...(bytes && { bytes }) } satisfies BlobCall);
      const [reply] = (await once(child, 'message')) as [BlobReply];
      return reply;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
