/** The command line, in a process of its own, as anybody runs it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { address } from './temporal.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const flags = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning'];

export interface CommandOutput {
  stdout: string;
  stderr: string;
  code: number;
}

export async function command(...words: string[]): Promise<CommandOutput> {
  const env = { ...process.env, TEMPORAL_ADDRESS: address() };
  try {
    const done = await promisify(execFile)(process.execPath, [...flags, main, ...words], { env });
    return { ...done, code: 0 };
  } catch (error) {
    const { stdout, stderr, code } = error as CommandOutput;
    return { stdout, stderr, code };
  }
}
