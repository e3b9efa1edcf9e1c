/** Programs that others wrote for the SDK run inside agents as they are, killed at some of their steps. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { describePrograms } from './killed-programs.ts';
import { programs } from './programs.ts';

const folder = new URL('./openai-agents-js/', import.meta.url);

test.each(programs)('$name is byte for byte what its authors published', ({ name }) => {
  const published = readFileSync(new URL('README.md', folder), 'utf8');
  const source = readFileSync(new URL(`${name}.ts`, folder));
  // Git's name for a file with this content.
  const blob = createHash('sha1').update(`blob ${source.length}\0`).update(source).digest('hex');
  expect(published).toMatch(new RegExp(`\\| \`examples/\\S+/${name}\\.ts\` \\| \`${blob}\` \\|`));
});

describePrograms(programs, {
  agents: new URL('./program-agents.ts', import.meta.url).href,
  plainly: ({ name }) => [fileURLToPath(new URL(`${name}.ts`, folder))],
  kills: (steps) => [steps[Math.floor(steps.length / 2)]!],
});
