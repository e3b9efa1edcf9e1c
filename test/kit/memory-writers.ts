/** Processes that write memory, and what they said of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a writer said of one write. */
interface Said {
  n: number;
  /** Absent: it was refused. */
  version?: number;
  sha256?: string;
}

/** One process of `test/fixtures/memory-writer.ts`. */
interface MemoryWriter {
  /** Has it begin. */
  begin(): void;
  kill(): void;
  /** What it has said so far. */
  said: Said[];
  /** Settles with its exit code, or the signal that ended it, when it has said all. */
  ended: Promise<unknown>;
}

/** A process that writes so many times; resolves when it waits to be told to begin. */
export async function spawnMemoryWriter(root: string, by: string, times: number): Promise<MemoryWriter> {
  const main = fileURLToPath(new URL('../fixtures/memory-writer.ts', import.meta.url));
  const flags = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, main, root, by, String(times)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const said: Said[] = [];
  const ready = Promise.withResolvers<void>();
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (data: string) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const one = JSON.parse(line) as Said & { ready?: true };
      if (one.ready) ready.resolve();
      else said.push(one);
    }
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as unknown);
  await Promise.race([
    ready.promise,
    ended.then((how) => {
      throw new Error(`A writer ended (${String(how)}) before it was ready.`);
    }),
  ]);
  return {
    begin: () => void child.stdin.write('go\n'),
    kill: () => void child.kill('SIGKILL'),
    said,
    ended,
  };
}
