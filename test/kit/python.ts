/** A Python with Temporal's SDK, made on first use, and workers that run in it. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { address } from './temporal.ts';

const run = promisify(execFile);
const SDK = 'temporalio==1.35.0';
const folder = fileURLToPath(new URL(`../../.cache/python/${SDK}`, import.meta.url));

/**
 * Path of the interpreter. `undefined`, said aloud, where there is no Python from 3.10 on; in CI that is an error.
 */
export async function pythonWithTemporal(): Promise<string | undefined> {
  const interpreter = `${folder}/bin/python`;
  const ready = `${folder}/ready`;
  if (existsSync(ready)) return interpreter;
  const check = 'import sys; assert sys.version_info >= (3, 10), sys.version';
  const missing = await run('python3', ['-c', check]).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (missing !== undefined) {
    const message = `Tools in Python are not tested: they need python3 of 3.10 or newer. ${missing}`;
    if (process.env['CI']) throw new Error(message);
    process.stderr.write(`${message}\n`);
    return undefined;
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await run('python3', ['-m', 'venv', folder]);
  await run(interpreter, ['-m', 'pip', 'install', '--quiet', SDK]);
  await writeFile(ready, '');
  return interpreter;
}

export interface PythonWorker {
  pid: number;
  /** Ends it by a signal; resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

const living = new Set<{ kill(signal: NodeJS.Signals): boolean }>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Runs a Python file that serves tools; resolves when it says that it polls. */
export async function spawnPython(
  interpreter: string,
  file: URL,
  env: Record<string, string>,
): Promise<PythonWorker> {
  const child = spawn(interpreter, [fileURLToPath(file)], {
    env: { ...process.env, ...env, KIT_TEMPORAL_ADDRESS: address() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  living.add(child);
  let errors = '';
  child.stderr.on('data', (data) => (errors += data));
  const ended = once(child, 'exit').then(() => living.delete(child));
  await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => {
      throw new Error(`The Python worker ended before it polled:\n${errors}`);
    }),
  ]);
  return {
    pid: child.pid!,
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal);
      await ended;
    },
  };
}
