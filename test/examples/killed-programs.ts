/** Programs that others wrote, run by `node` and in agents, whole and killed at some of their steps. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { approve, records, waiting } from '../../src/index.ts';
import { startScriptedProvider } from '../../src/testing/index.ts';
import { scene } from '../kit/scene.ts';
import { assertReplays, chainOf, repeatedSteps, until } from '../kit/temporal.ts';
import type { KillAt } from '../kit/workers.ts';
import { type Program, scriptOf } from './programs.ts';

/** How programs of one kind are run. */
export interface Runs {
  /** Module of the agents that are the programs, as a URL. */
  agents: string;
  /** What `node` is given to run one without Temporal. */
  plainly: (program: Program) => readonly string[];
  /** Variables for all of them. */
  env?: () => Record<string, string>;
  /** After which of its steps a program is killed, outside the soak. */
  kills: (steps: readonly number[]) => readonly number[];
}

const soak = Boolean(process.env['TEST_SOAK']);
const key = { OPENAI_API_KEY: 'none' };

/** Runs a program as its authors do: `node program.ts`, without Temporal, with somebody at the console. */
async function runPlainly(program: Program, { plainly, env }: Runs): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const provider = await startScriptedProvider(scriptOf(program));
  stack.defer(async () => await provider.stop());
  const child = spawn(process.execPath, plainly(program), {
    // One of them writes a file.
    cwd: mkdtempSync(join(tmpdir(), 'program-')),
    env: { ...process.env, EFFECTS: '', ...key, ...env?.(), OPENAI_BASE_URL: provider.url },
  });
  stack.defer(() => void child.kill('SIGKILL'));
  let output = '';
  let errors = '';
  child.stdout.on('data', (data) => (output += data));
  child.stderr.on('data', (data) => (errors += data));
  const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)));
  let seen = 0;
  const questions = program.approvals?.map(() => ['Do you approve? (y/n): ', 'y'] as const);
  for (const [question, answer] of questions ?? program.conversation ?? []) {
    await until(() => child.exitCode !== null || output.includes(question, seen), question);
    seen = output.indexOf(question, seen) + question.length;
    child.stdin.write(`${answer}\n`);
  }
  expect([await ended, errors]).toEqual([0, '']);
  // In a run these are asked by Temporal.
  return program.approvals ? output.replaceAll(/^(Agent .* Do you approve\? \(y\/n\): )+/gm, '') : output;
}

/** Runs a program inside an agent, its worker killed as told and replaced. */
async function runDurably(program: Program, { agents, env }: Runs, kill?: KillAt) {
  await using stage = await scene('program-agents', { script: scriptOf(program) });
  const spawnWorker = async (at?: KillAt) =>
    await stage.spawn({
      module: agents,
      preload: new URL('./load-programs.ts', import.meta.url).href,
      env: { ...key, ...env?.(), OPENAI_BASE_URL: stage.provider.url },
      ...(at && { kill: at }),
    });
  const worker = await spawnWorker(kill);
  const handle = await stage.start(
    program.name,
    (program.conversation ?? []).map(([, answer]) => answer),
  );
  const result = handle.result() as Promise<string>;
  const asking = approveAll(handle, program, result);
  if (kill) {
    expect(await worker.ended).toMatchObject({ signal: 'SIGKILL' });
    await spawnWorker();
  }
  const output = await result;
  const approved = await asking;
  const histories = await chainOf(handle);
  const done = await handle.query(records);
  return {
    output,
    histories,
    approved,
    turns: stage.provider.requests.length,
    bodies: Object.entries(stage.tally()).filter(([what]) => what.startsWith('ran ')),
    recorded: ['turn', 'tool'].map((wanted) => done.filter(({ kind }) => kind === wanted).length),
    repeated: repeatedSteps(histories),
  };
}

/** Approves whatever is asked, until the run has ended; an approved tool that was under way at the kill is asked anew. */
async function approveAll(handle: WorkflowHandle, { approvals = [] }: Program, ended: Promise<unknown>) {
  const approved = new Set<string>();
  let over = approvals.length === 0;
  void ended.finally(() => (over = true)).catch(() => {});
  await until(
    async () => {
      // While no worker lives, nobody answers a query; of two at the end of a run, the server loses one for 30 s now and
      // then, which a bare workflow shows as well.
      await delay(200);
      const asked = over ? undefined : await handle.query(waiting).catch(() => undefined);
      for (const { id } of asked?.approvals ?? []) {
        if (!approved.has(id)) await handle.signal(approve, { id });
        approved.add(id);
      }
      return over;
    },
    'the end of the run',
    110_000,
  );
  return [...approved].toSorted();
}

/** The tests of each program. */
export function describePrograms(programs: readonly Program[], runs: Runs): void {
  describe.each(programs)('$name', (program) => {
    const { turns, tools = 0, bodies = tools, beside = 0, approvals = [], without = /$^/g } = program;
    const same = (output: string) => {
      return output.replaceAll(without, '');
    };

    let whole: string;

    test('prints in a run what it prints without Temporal', async () => {
      const [plain, run] = await Promise.all([runPlainly(program, runs), runDurably(program, runs)]);
      expect(same(run.output)).toBe(same(plain));
      whole = same(plain);
      expect(run).toMatchObject({ turns, recorded: [turns, tools], repeated: [] });
      expect(run.approved).toEqual(approvals.toSorted());
      expect(run.bodies.map(([, times]) => times)).toEqual(Array(bodies).fill(1));
    });

    // In the soak after each step.
    test(
      'killed after a step in the middle, it goes on, and nothing answered is asked or run again',
      async () => {
        const all = Array.from({ length: turns + tools - 1 }, (_, i) => i + 1);
        const steps = soak ? all : runs.kills(all);
        for (let i = 0; i < steps.length; i += 4) {
          const group = steps.slice(i, i + 4);
          const killed = await Promise.all(
            group.map(async (step) => await runDurably(program, runs, { step, when: 'after' })),
          );
          for (const run of killed) {
            expect(same(run.output)).toBe(whole);
            expect(run).toMatchObject({ recorded: [turns, tools], repeated: [] });
            // Only what was under way beside the step at the kill may be done again.
            expect(run.bodies).toHaveLength(bodies);
            const again = run.turns - turns + run.bodies.reduce((sum, [, times]) => sum + times - 1, 0);
            expect(run.turns).toBeGreaterThanOrEqual(turns);
            expect(again).toBeLessThanOrEqual(beside);
            await assertReplays(run.histories);
          }
        }
      },
      soak ? 600_000 : 120_000,
    );
  });
}
