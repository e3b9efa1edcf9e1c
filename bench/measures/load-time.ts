import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Measure } from '../kit/measure.ts';
import { compare, digits } from '../kit/report.ts';
import { Rounds } from '../kit/rounds.ts';

/** Each entry point beside the framework that it instruments, which is loaded anyhow. */
const loads: readonly [string, readonly string[]][] = [
  ['temporal-agents', ['temporal-agents']],
  ['@openai/agents', ['@openai/agents']],
  ['temporal-agents/openai-agents', ['temporal-agents/openai-agents']],
  ['langchain', ['langchain', '@langchain/langgraph']],
  ['temporal-agents/langchain', ['langchain', 'temporal-agents/langchain']],
  ['temporal-agents/langgraph', ['@langchain/langgraph', 'temporal-agents/langgraph']],
  ['deepagents', ['deepagents']],
  ['temporal-agents/deepagents', ['deepagents', 'temporal-agents/deepagents']],
];

/** Milliseconds that a plain Node process takes to import these. */
async function load(modules: readonly string[]): Promise<number> {
  const imports = modules.map((name) => `await import(${JSON.stringify(name)});`).join(' ');
  const code = `const began = performance.now(); ${imports} process.stdout.write(String(performance.now() - began), () => process.exit());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
  return Number(stdout);
}

export const loadTime: Measure = {
  name: 'load-time',
  about: 'Import of each entry point, with the framework that it instruments, in a fresh process',
  run: async ({ quick }) => {
    const rounds = quick ? 1 : 5;
    const all = new Rounds();
    for (let round = 0; round < rounds; round++)
      for (const [label, modules] of loads) all.add(label, await load(modules));
    const options = { show: digits(0), bases: ['@openai/agents', 'langchain', 'deepagents'] };
    compare(`ms to import, ${rounds} rounds`, all.series(), options);
  },
};
