import { writeFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import { Command } from 'commander';
import { collectReport } from '../report/collect.ts';
import { pageOf } from '../report/page.ts';
import { viewOf } from '../report/view.ts';
import { say } from './say.ts';

/** How long a server may take to be reached; milliseconds. */
const CONNECT_MS = 10_000;

interface ReportOptions {
  address: string;
  namespace: string;
  runId?: string;
  out?: string;
  ui?: string;
  /** Seconds. */
  timeout: string;
}

/** `temporal-agents report <workflow-id>`: writes what a run and those below it did as one file of HTML. */
export function reportCommand(): Command {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = process.env;
  return new Command('report')
    .description(
      'Writes what a run, and the runs below it, did and spent as one file of HTML. A worker of the agent must run.',
    )
    .argument('<workflow-id>')
    .option('--run-id <id>', 'one run of the workflow id; else the last')
    .option('-o, --out <file>', 'where to; else <workflow-id>.html, "-" for standard output')
    .option('--ui <url>', "where Temporal's UI is, to link to it, such as http://localhost:8233")
    .option('--timeout <seconds>', 'how long the server and a worker may take to answer', '20')
    .option('--address <host:port>', 'of the server', address ?? 'localhost:7233')
    .option('--namespace <name>', 'of the workflow', namespace ?? 'default')
    .action(writeReport);
}

async function writeReport(workflowId: string, options: ReportOptions): Promise<void> {
  const { address, namespace, runId } = options;
  const ui = options.ui === undefined ? undefined : webAddress(options.ui);
  const timeoutMs = Number(options.timeout) * 1_000;
  if (!(timeoutMs > 0)) throw new Error(`Cannot wait ${options.timeout} seconds. Give a number above 0.`);
  const connection = await connect(address, timeoutMs);
  try {
    const client = new Client({ connection, namespace });
    const tree = await collectReport(client, workflowId, { runId, timeoutMs });
    const page = pageOf(viewOf(tree, Date.now(), ui));
    const file = options.out ?? `${workflowId.replaceAll(/[^\w.-]/g, '_').slice(0, 200)}.html`;
    if (file === '-') process.stdout.write(page);
    else {
      await writeFile(file, page);
      say(`${file}: ${tree.report.total} steps, ${Buffer.byteLength(page)} bytes\n`);
    }
  } finally {
    await connection.close();
  }
}

async function connect(address: string, timeoutMs: number): Promise<Connection> {
  try {
    return await Connection.connect({ address, connectTimeout: Math.min(CONNECT_MS, timeoutMs) });
  } catch (error) {
    const why = (error as Error).message.split('\n', 1)[0];
    throw new Error(`Cannot reach a Temporal server at ${address}: ${why}. Say where it is with --address.`, {
      cause: error,
    });
  }
}

function webAddress(url: string): string {
  if (!/^https?:\/\//i.test(url)) throw new Error(`Cannot link to ${url}: it does not begin with http.`);
  return url.replace(/\/+$/, '');
}
