#!/usr/bin/env node
/** `temporal-agents`: the commands, one a file. */
import { Command } from 'commander';
import { registerSearchAttributesCommand } from './register-search-attributes.ts';
import { reportCommand } from './report.ts';

const program = new Command('temporal-agents').description('Looks after agents that run on Temporal.');
program.addCommand(reportCommand());
program.addCommand(registerSearchAttributesCommand());
try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
