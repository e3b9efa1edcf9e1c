import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { dependency } from '../../adapters/openai-agents/dependencies.ts';
import { testAdapter } from './contract.ts';
import { openaiAgents } from './openai-agents.ts';

const { devDependencies } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { devDependencies: Record<string, string> };
const version = devDependencies['openai-agents-oldest']!.replace('npm:@openai/agents@', '');

test('the oldest version that is tested is the oldest that is supported', () => {
  expect(dependency.range).toMatch(new RegExp(`^>=${version.replaceAll('.', '\\.')} `));
});

testAdapter({
  ...openaiAgents,
  name: `OpenAI Agents ${version}`,
  killFew: true,
  preload: new URL('../kit/oldest-openai-agents.mjs', import.meta.url).href,
});
