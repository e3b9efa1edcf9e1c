import { execFile } from 'node:child_process';
import { expect, test } from '@jest/globals';

const url = (path: string) => JSON.stringify(new URL(`../../${path}`, import.meta.url).href);

/** What becomes of a process with the guard in which this happens. */
function guarded(happens: string): Promise<{ code: number; output: string }> {
  const script = `
    import { setTimeout as delay } from 'node:timers/promises';
    import { guardRejections } from ${url('src/loop/rejection-guard.ts')};
    import { runAtTop } from ${url('src/loop/current-loop.ts')};
    const logged = (message, error) => console.log('logged', message, error?.message ?? error);
    guardRejections(logged);
    guardRejections(logged);
    const inRun = (body) => runAtTop({ runId: 'run-1' }, () => void body());
    ${happens}
    await delay(50);
    console.log('still here');`;
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr });
    });
  });
}

test("an agent's failed branch that nobody awaits is logged once, and the worker lives", async () => {
  const { code, output } = await guarded(
    `inRun(async () => { await delay(5); throw new Error('a branch'); });`,
  );
  expect(output).toContain(
    'logged A branch of the agent in run run-1 failed, and nothing awaits it. a branch\nstill here',
  );
  expect(output.match(/logged/g)).toHaveLength(1);
  expect(code).toBe(0);
});

test('so is one that is rejected from outside the run', async () => {
  const { code, output } = await guarded(`
    const outside = Promise.withResolvers();
    inRun(async () => { await outside.promise; });
    setTimeout(() => outside.reject(new Error('from outside')), 5);`);
  expect(output).toContain('from outside\nstill here');
  expect(code).toBe(0);
});

test.each([['Promise.reject(new Error("own code"))'], ['Promise.reject(undefined)']])(
  'outside a run it ends the process, as without the guard: %s',
  async (happens) => {
    const { code, output } = await guarded(`void ${happens};`);
    expect(output).not.toContain('still here');
    expect(code).not.toBe(0);
  },
);

test("outside a run it is left to the process's own handler, where it has one", async () => {
  const { code, output } = await guarded(`
    process.on('unhandledRejection', (reason) => console.log('own handler', reason.message));
    void Promise.reject(new Error('own code'));`);
  expect(output).toBe('own handler own code\nstill here\n');
  expect(code).toBe(0);
});
