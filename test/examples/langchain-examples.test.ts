import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { address } from '../kit/temporal.ts';

const flags = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning'];

/** What an example says as anybody runs it, without a key, with nobody at the terminal; by who says it. */
async function play(example: string, env: Record<string, string> = {}, ...words: string[]) {
  const main = fileURLToPath(new URL(`../../examples/${example}/main.ts`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, main, ...words, '--yes'], {
    env: { ...process.env, OPENAI_API_KEY: '', TEMPORAL_ADDRESS: address(), ...env },
  });
  const lines = stdout.trim().split('\n');
  return Object.fromEntries(lines.map((line) => [line.slice(0, 10).trim(), line.slice(11)]));
}

test('a research graph looks up three questions and has its report edited', async () => {
  const { Topic, Draft, Report } = await play('research-graph');
  expect(Topic).toBe('How an agent is kept within bounds');
  expect(Draft).toMatch(
    /^How an agent is kept within bounds: What is a budget\? See "[^"]+"\. What is memory\? See "[^"]+"\. Who approves\? See "[^"]+"\.$/,
  );
  expect(Report).toBe(Draft);
});

test('a support agent of LangChain has a person look at its refund', async () => {
  const { Waits, Agent } = await play('support-agent');
  expect(Waits).toBe('refund {"order":"A-17","usd":240}');
  expect(Agent).toBe('I looked into it: $240 paid back for order A-17.');
});

test('a deep agent returns to its files, in another process', async () => {
  const env = { RESEARCH_MEMORY: mkdtempSync(join(tmpdir(), 'research-')) };
  const visit = async (says: string, more: Record<string, string> = {}) =>
    (await play('returning-researcher', { ...env, ...more }, says))['Researcher'];
  expect(await visit('Bees see ultraviolet light.')).toBe('Noted.');
  expect(await visit('What did we find?')).toBe('Bees see ultraviolet light.');
  // In another conversation what it learnt of the reader is there, and of another reader nothing.
  expect(await visit('What did we find?', { TOPIC: 'birds' })).toBe('In short: I have no notes yet.');
  expect(await visit('What did we find?', { READER: 'bob' })).toBe('I have no notes yet.');
});
