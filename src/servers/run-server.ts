import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import { awaitReady } from './await-ready.ts';
import type { Environment } from './environment.ts';
import { assertPortFree, freePort } from './free-port.ts';

/** What to run, and how to tell that it is up. */
export interface ServerCommand {
  binary: string;
  /** Arguments for the port that the server is to listen on. */
  args: (port: number) => readonly string[];
  environment: Environment;
  /** Namespace that the server must describe before it counts as up. */
  namespace: string;
  /** Port to listen on, or undefined for one that is free. */
  port: number | undefined;
  /** Longest time to get ready, in milliseconds. */
  readyTimeoutMs: number;
  /** How to end it: SIGTERM where it has something to save, else SIGKILL. */
  stopSignal: 'SIGTERM' | 'SIGKILL';
}

/** A server that we started. */
export interface RunningServer {
  address: string;
  port: number;
  /** Process id of the server itself. */
  pid: number;
  /** Ends the server and resolves when it is gone. More calls do no harm. */
  stop: () => Promise<void>;
}

/** How often another port is taken when somebody else was faster on the first. */
const maxAttempts = 5;
const portTaken = /address (is )?already in use/i;

/**
 * Runs a server until it is stopped or this process ends, however it ends, and resolves when it can do work.
 * It does not keep this process alive.
 */
export async function runServer(command: ServerCommand): Promise<RunningServer> {
  if (command.port !== undefined) {
    await assertPortFree(command.port);
  }
  for (let attempt = 1; ; attempt++) {
    const port = command.port ?? (await freePort());
    try {
      return await startOnce(command, port);
    } catch (error) {
      const again =
        command.port === undefined && attempt < maxAttempts && portTaken.test((error as Error).message);
      if (!again) {
        throw error;
      }
    }
  }
}

async function startOnce(command: ServerCommand, port: number): Promise<RunningServer> {
  const address = `127.0.0.1:${port}`;
  const keeper = startKeeper(command, port);
  const stop = () => stopKeeper(keeper);
  const abort = new AbortController();
  try {
    const pid = await Promise.race([
      Promise.all([once(keeper, 'message'), awaitReady(address, command.namespace, abort.signal)]).then(
        ([[message]]) => message as number,
      ),
      failure(keeper, command, abort.signal),
    ]);
    keeper.unref();
    keeper.channel?.unref();
    (keeper.stderr as Socket).unref();
    return { address, port, pid, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    abort.abort();
  }
}

function startKeeper(command: ServerCommand, port: number): ChildProcess {
  const script = new URL(`./keeper${extname(import.meta.url)}`, import.meta.url);
  return fork(script, [command.stopSignal, command.binary, ...command.args(port)], {
    execArgv: [],
    env: { ...command.environment },
    // A Ctrl-C in the terminal goes to its whole process group: ours decides itself when the server ends.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** Rejects when the server ends, cannot bind its port, or takes too long. What it wrote last is in the message. */
async function failure(keeper: ChildProcess, command: ServerCommand, signal: AbortSignal): Promise<never> {
  let written = '';
  return new Promise((_resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(
        new Error(
          `Cannot start ${command.binary}: ${why}. Try the command by hand.${written && `\nIt wrote: ${written.trim()}`}`,
        ),
      );
    };
    const timer = setTimeout(
      fail,
      command.readyTimeoutMs,
      `it was not ready after ${command.readyTimeoutMs} ms`,
    );
    signal.addEventListener('abort', () => clearTimeout(timer));
    keeper.once('error', (error) => fail(error.message));
    keeper.once('close', () => fail('it ended at once'));
    keeper.stderr?.on('data', (chunk) => {
      written = (written + String(chunk)).slice(-2_000);
      // The test server says so and lives on.
      if (portTaken.test(written)) {
        fail('its port is taken');
      }
    });
  });
}

async function stopKeeper(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) {
    return;
  }
  keeper.ref();
  const gone = once(keeper, 'exit');
  if (keeper.connected) {
    keeper.disconnect();
  }
  await gone;
}
