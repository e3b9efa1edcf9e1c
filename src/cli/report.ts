import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { collectReport, type RunTree } from '../report/collect.ts';
import { pageOf } from '../report/page.ts';
import { viewOf } from '../report/view.ts';
import { say } from './say.ts';
import { connected, type ServerOptions, withServer } from './server.ts';

interface ReportOptions extends ServerOptions {
  runId?: string;
  out?: string;
  ui?: string;
  /** Seconds. */
  timeout: string;
}

/** `temporal-agents report <workflow-id>`: writes what a run and those below it did as one file of HTML. */
export function reportCommand(): Command {
  const command = new Command('report')
    .description(
      'Writes what a run, and the runs below it, did and spent as one file of HTML. A worker of the agent must run.',
    )
    .argument('<workflow-id>')
    .option('--run-id <id>', 'one run of the workflow id; else the last')
    .option('-o, --out <file>', 'where to; else <workflow-id>.html, "-" for standard output')
    .option('--ui <url>', "where Temporal's UI is, to link to it, such as http://localhost:8233")
    .option('--timeout <seconds>', 'how long the server and a worker may take to answer', '20');
  return withServer(command).action(writeReport);
}

async function writeReport(workflowId: string, options: ReportOptions): Promise<void> {
  const { runId } = options;
  const ui = options.ui === undefined ? undefined : webAddress(options.ui);
  const timeoutMs = Number(options.timeout) * 1_000;
  if (!(timeoutMs > 0)) throw new Error(`Cannot wait ${options.timeout} seconds. Give a number above 0.`);
  const tree = await connected(
    options,
    async (client) => await collectReport(client, workflowId, { runId, timeoutMs }),
    timeoutMs,
  );
  const page = pageOf(viewOf(tree, Date.now(), ui));
  const file = options.out ?? `${workflowId.replaceAll(/[^\w.-]/g, '_').slice(0, 200)}.html`;
  if (file === '-') process.stdout.write(page);
  else {
    await writeFile(file, page);
    say(`${file}: ${stepsIn(tree)} steps, ${Buffer.byteLength(page)} bytes\n`);
  }
}

function stepsIn({ report, children }: RunTree): number {
  return children.reduce((sum, child) => sum + stepsIn(child), report.total);
}

function webAddress(url: string): string {
  if (!/^https?:\/\//i.test(url)) throw new Error(`Cannot link to ${url}: it does not begin with http.`);
  return url.replace(/\/+$/, '');
}
