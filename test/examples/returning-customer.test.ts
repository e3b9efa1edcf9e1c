import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { address } from '../kit/temporal.ts';

const main = fileURLToPath(new URL('../../examples/returning-customer/main.ts', import.meta.url));
const flags = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning'];

test('a customer who comes back is known, by another process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'customer-'));
  const env = {
    ...process.env,
    OPENAI_API_KEY: '',
    TEMPORAL_ADDRESS: address(),
    CUSTOMER_MEMORY: folder,
  };
  const visit = async (...words: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, main, ...words], { env });
    return stdout.trim().split('\n');
  };
  expect(await visit()).toEqual([
    `Memory     0 items of ann, in ${folder}`,
    'Customer   I am Ann, and I take my coffee with oat milk.',
    'Clerk      Nice to meet you. I will remember that.',
  ]);
  expect(await visit()).toEqual([
    `Memory     2 items of ann, in ${folder}`,
    'Customer   How do I take my coffee?',
    'Clerk      Welcome back. You told me before: I am Ann, and I take my coffee with oat milk.',
  ]);
  expect((await visit('And my name?'))[2]).toMatch(/oat milk\. How do I take my coffee\?$/);
});
