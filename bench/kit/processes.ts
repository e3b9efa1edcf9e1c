/** Processes of the benchmarks: forked, asked by messages, ended by their own id. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** A process of ours. */
export interface Forked<First> {
  pid: number;
  /** What it said first. */
  first: First;
  /** Rejects when it ends before it was asked to. */
  died: Promise<never>;
  /** Asks for its state. */
  ask: <Answer>() => Promise<Answer>;
  /** Sends a signal and resolves when the process has ended. */
  end: (signal?: NodeJS.Signals) => Promise<void>;
}

/** Runs a script in a process of its own; resolves when it says its first word. */
export async function forkScript<First>(
  script: URL,
  environment: NodeJS.ProcessEnv = {},
): Promise<Forked<First>> {
  const child = fork(script, {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  living.add(child);
  const ended = once(child, 'exit').finally(() => living.delete(child));
  const failed = ended.then(([code, signal]) => {
    throw new Error(
      `Cannot go on: ${script.pathname} ended (${code ?? signal}). Look at what it wrote above.`,
    );
  });
  failed.catch(() => {});
  const next = async () => ((await Promise.race([once(child, 'message'), failed])) as unknown[])[0];
  const first = (await next()) as First;
  return {
    pid: child.pid!,
    first,
    died: failed,
    ask: async <Answer>() => {
      child.send('tell');
      return (await next()) as Answer;
    },
    end: async (signal = 'SIGKILL') => {
      child.kill(signal);
      await ended;
    },
  };
}
