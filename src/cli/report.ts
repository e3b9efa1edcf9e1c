import { writeFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import { Command } from 'commander';
import { collectReport } from '../report/collect.ts';
import { pageOf } from '../report/page.ts';
import { viewOf } from '../report/view.ts';

interface ReportOptions {
  address: string;
  namespace: string;
  runId?: string;
  out?: string;
  ui?: string;
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
    .option('--address <host:port>', 'of the server', address ?? 'localhost:7233')
    .option('--namespace <name>', 'of the workflow', namespace ?? 'default')
    .action(writeReport);
}

async function writeReport(workflowId: string, options: ReportOptions): Promise<void> {
  const { address, namespace, runId, ui } = options;
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    const tree = await collectReport(client, workflowId, runId);
    const page = pageOf(viewOf(tree, Date.now(), ui?.replace(/\/$/, '')));
    const file = options.out ?? `${workflowId.replaceAll(/[^\w.-]/g, '_')}.html`;
    if (file === '-') process.stdout.write(page);
    else {
      await writeFile(file, page);
      process.stdout.write(`${file}: ${tree.report.total} steps, ${page.length} bytes\n`);
    }
  } finally {
    await connection.close();
  }
}
