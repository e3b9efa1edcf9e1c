#!/usr/bin/env node
/** `temporal-agents`: the commands, one a file. */
import { Command } from 'commander';
import { registerSearchAttributesCommand } from './register-search-attributes.ts';
import { reportCommand } from './report.ts';
import { complain, say } from './say.ts';

const program = new Command('temporal-agents').description('Looks after agents that run on Temporal.');
for (const command of [program, reportCommand(), registerSearchAttributesCommand()]) {
  command.configureOutput({ writeOut: say, writeErr: complain });
  if (command !== program) program.addCommand(command);
}
try {
  await program.parseAsync();
} catch (error) {
  complain(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
