/** What the figures were measured on, as a few lines. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { findServerBinary } from 'temporal-agents/testing';

interface Manifest {
  dependencies: Readonly<Record<string, string>>;
  devDependencies?: Readonly<Record<string, string>>;
}

const manifest = (path: string) =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Manifest;

/** Load of the machine over 1, 5 and 15 minutes: two cores are busy at 2. */
export function load(): string {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
}

/** The machine, the versions, and the time. */
export async function describeMachine(): Promise<string> {
  const { TEMPORAL_ADDRESS: _, ...environment } = process.env;
  const binary = await findServerBinary('dev', { environment });
  const { stdout: server } = await promisify(execFile)(binary, ['--version']);
  const ours = manifest('../../package.json').devDependencies!;
  const theirs = manifest('../official/package.json').dependencies;
  return [
    new Date().toISOString(),
    `${cpus().length} cores (${cpus()[0]?.model}), ${Math.round(totalmem() / 2 ** 30)} GB, load ${load()}`,
    `Node ${process.version}; ${server.trim()}`,
    `temporal-agents with @temporalio/worker ${ours['@temporalio/worker']} and @openai/agents ${ours['@openai/agents']}`,
    `@temporalio/openai-agents ${theirs['@temporalio/openai-agents']} with @temporalio/worker ${theirs['@temporalio/worker']} and @openai/agents-core ${theirs['@openai/agents-core']}`,
  ].join('\n');
}
