/** What the report says of runs that end badly, or that nobody can be asked about. */
import { expect, test } from '@jest/globals';
import { report } from '../../src/index.ts';
import { collectReport } from '../../src/report/collect.ts';
import { command } from '../kit/command.ts';
import { EFFECTS } from '../kit/hostile.ts';
import { scene } from '../kit/scene.ts';
import { client, unique, until } from '../kit/temporal.ts';

test('a run that failed says with what, and what it and its children did', async () => {
  await using stage = await scene('spending-agents', { env: { BROKEN: 'yes' } });
  await stage.spawn();
  const handle = await stage.start('explorer', 'Mars');
  await expect(handle.result()).rejects.toThrow();
  expect(await collectReport(await client(), handle.workflowId)).toMatchObject({
    status: 'FAILED',
    ended: 'Error: a bug',
    report: { total: 4 },
    children: [{ status: 'COMPLETED' }, { status: 'COMPLETED' }],
  });
});

test('a run that nobody can be asked about is told of in one line, with what to do', async () => {
  await using stage = await scene('people-agents');
  const worker = await stage.spawn();
  const handle = await stage.start('paying', 'order 7');
  await until(async () => (await handle.query(report)).inFlight[0]?.kind === 'approval', 'the approval');
  await worker.kill();
  const { stdout, stderr, code } = await command('report', handle.workflowId, '--timeout', '2', '-o', '-');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `Cannot read the report of ${handle.workflowId}: no worker answered within 2 s. Start a worker with agent paying on task queue ${stage.taskQueue}, or wait longer with --timeout.\n`,
  );
  await handle.terminate('no more');
  await stage.spawn();
  const { status, ended } = await collectReport(await client(), handle.workflowId);
  expect([status, ended]).toEqual(['TERMINATED', 'no more']);
});

test('a run that ended before it began is told of, too', async () => {
  const { workflow } = await client();
  const workflowId = unique('never');
  const handle = await workflow.start('paying', { taskQueue: unique('nobody'), workflowId, args: ['x'] });
  await handle.terminate('at once');
  const { stderr, code } = await command('report', workflowId, '--timeout', '2');
  expect(code).toBe(1);
  expect(stderr).toBe(`Cannot read the report of ${workflowId}: it ended before it did anything.\n`);
});

test.each([
  ['no such run', ['no-such-run'], /^The server knows no workflow no-such-run in namespace default\./],
  [
    'no server',
    ['x', '--timeout', '1', '--address', '127.0.0.1:1'],
    /^Cannot reach a Temporal server at 127\.0\.0\.1:1: .+/,
  ],
  ['no such namespace', ['x', '--namespace', 'nowhere'], /nowhere/],
  ['no time', ['x', '--timeout', 'soon'], /^Cannot wait soon seconds\. Give a number above 0\.\n/],
  ['an address that runs', ['x', '--ui', 'javascript:alert(1)'], /^Cannot link to javascript:alert\(1\): /],
  ['no id', [], /^error: missing required argument 'workflow-id'\n/],
  [
    'an id with colours',
    ['\u001b[31mred\u001b]0;title\u0007\u202e'],
    /^The server knows no workflow ␛\[31mred/,
  ],
  ['a flag with colours', ['x', '--\u001b[31mred'], /^error: unknown option '--␛\[31mred'\n/],
  [
    'an address with colours',
    ['x', '--timeout', '1', '--address', '\u001b[31mred'],
    /^Cannot reach a Temporal server at ␛\[31mred/,
  ],
])('%s: one line', async (_what, words, line) => {
  const { stdout, stderr, code } = await command('report', ...words);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(line);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).not.toMatch(EFFECTS);
});
