/** What stands around a console program that runs inside an agent: its answers, what it prints, and its exit. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { note } from '../kit/effects.ts';

interface Stage {
  answers: string[];
  printed: string;
  /** Ends of the streams that are piped to the console. */
  streams: Promise<unknown>[];
}

const stages = new AsyncLocalStorage<Stage>();

/** Runs a program with these answers to its questions; gives all that it printed. */
export async function onStage(answers: readonly string[], program: () => Promise<unknown>): Promise<string> {
  const stage: Stage = { answers: [...answers], printed: '', streams: [] };
  await stages.run(stage, program);
  // As a process does, which ends when nothing more can happen in it.
  await Promise.all(stage.streams);
  return stage.printed;
}

/** In place of `node:readline/promises`, whose questions nobody at a worker could answer. */
export function createInterface(_streams: unknown): {
  question(query: string): Promise<string>;
  close(): void;
} {
  return {
    question: async (query) => {
      process.stdout.write(query);
      const answer = stages.getStore()?.answers.shift();
      if (answer === undefined) throw new Error(`Nobody answers "${query}".`);
      return answer;
    },
    close: () => {},
  };
}

export default { createInterface };

const write = process.stdout.write.bind(process.stdout) as (...args: unknown[]) => boolean;
process.stdout.write = (...args: unknown[]) => {
  const stage = stages.getStore();
  if (stage) {
    stage.printed += String(args[0]);
    note(`printed ${JSON.stringify(String(args[0]))}`);
  }
  return write(...args);
};

process.stdout.on('pipe', (stream: Readable) => void stages.getStore()?.streams.push(once(stream, 'end')));

const exit = process.exit.bind(process);
process.exit = (code) => {
  // A program that ends itself would take its worker along.
  if (stages.getStore()) throw new Error(`The program ended itself with ${code}.`);
  return exit(code);
};
