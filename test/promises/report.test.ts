/** The report of a run as a file, by the command line, in a browser. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { approve, waiting } from '../../src/index.ts';
import { command } from '../kit/command.ts';
import { openReport } from '../kit/report-browser.ts';
import { scene } from '../kit/scene.ts';
import { until } from '../kit/temporal.ts';

const newFile = () => join(mkdtempSync(join(tmpdir(), 'report-')), 'run.html');

test('is written by one command, and shows the run and those below it in a browser', async () => {
  await using stage = await scene('spending-agents');
  await stage.spawn();
  const handle = await stage.start('explorer', 'Mars');
  await handle.result();
  const file = newFile();
  const ui = 'http://ui.example';
  const { stdout, stderr, code } = await command('report', handle.workflowId, '-o', file, '--ui', `${ui}/`);
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/run\.html: 11 steps, \d+ bytes\n$/)]);

  await using report = await openReport(file);
  const { page, did } = report;
  expect(await page.locator('h1').innerText()).toContain('explorer');
  expect(await page.locator('header dl').innerText()).toMatch(/completed[\s\S]*7 turns/);
  // The runs, each with what became of it, its time and its cost.
  expect(await page.locator('nav li').count()).toBe(3);
  expect(await page.locator('nav .run').first().innerText()).toMatch(
    /explorer 5 steps\s+completed\s+.+m?s\s+\$0\.\d+/,
  );
  expect(await page.locator('section').count()).toBe(3);
  expect(await page.locator('details').count()).toBe(5 + 2 * 3);
  const link = await page.getByRole('link', { name: "Open in Temporal's UI" }).first().getAttribute('href');
  expect(link).toBe(`${ui}/namespaces/default/workflows/${handle.workflowId}/${await runIdOf(handle)}`);
  // A turn says in its row what it was asked.
  expect(await page.locator('summary', { hasText: 'first Mars' }).count()).toBe(1);

  // By keyboard alone: the first step, what its tool answered, and down to a child and up again.
  await page.locator('summary').first().focus();
  await page.keyboard.press('Enter');
  await page.locator('details[open]').first().waitFor();
  const tool = page.locator('details', { hasText: 'look' }).first();
  await tool.locator('summary').press('Enter');
  expect(await tool.innerText()).toContain('<script>alert(\\"Mars');
  const call = page.locator('details', { hasText: 'scout' }).first();
  await call.locator('summary').press('Enter');
  await call.getByRole('link').press('Enter');
  const child = page.locator('section:target');
  expect(await child.locator('h2').innerText()).toMatch(/^scout explorer-.*\/scout-/);
  await child.getByRole('link', { name: 'The step that it answers' }).press('Enter');
  expect(await page.locator('details:target').innerText()).toContain('scout');

  const background = 'getComputedStyle(document.body).backgroundColor';
  expect(await page.evaluate(background)).toBe('rgb(255, 255, 255)');
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await page.evaluate(background)).toMatch(/rgb\((\d|[1-6]\d), /);
  // On paper, what is closed on the screen can be read.
  const closed = page.locator('details:not([open])').first();
  const height = await heightOf(closed);
  await page.emulateMedia({ media: 'print' });
  expect(await heightOf(closed)).toBeGreaterThan(2 * height);
  expect((await page.pdf()).length).toBeGreaterThan(10_000);
  expect(did).toEqual([]);
});

test('shows what waits for whom, and what goes on, up to now; then how long that was', async () => {
  await using stage = await scene('people-agents');
  await stage.spawn();
  const handle = await stage.start('paying', 'order 7');
  const read = async () => {
    const file = newFile();
    expect(await command('report', handle.workflowId, '-o', file)).toMatchObject({ code: 0, stderr: '' });
    return await openReport(file);
  };
  await until(async () => (await handle.query(waiting)).approvals[0], 'the approval');
  {
    await using report = await read();
    const { page } = report;
    expect(await page.locator('header dl').innerText()).toContain('running');
    expect(await page.locator('section').innerText()).toMatch(
      /Waits for a person\s+refund-1: Refund \$100 for order 7\? \(for/,
    );
    const row = page.locator('details', { hasText: 'approval' });
    expect(await row.locator('i').getAttribute('class')).toBe('wait open');
    const { x, width } = (await row.locator('i').boundingBox())!;
    const track = (await row.locator('.track').boundingBox())!;
    expect(x + width).toBeCloseTo(track.x + track.width, 0);
  }
  await handle.signal(approve, { id: 'refund-1', by: 'ann' });
  await handle.result();
  await using report = await read();
  const { page } = report;
  const row = page.locator('details', { hasText: 'refund' }).first();
  expect(await row.innerText()).toMatch(/waited .+ for a decision/);
  expect(await row.locator('i').evaluateAll((bars) => bars.map(({ className }) => className))).toEqual([
    'wait',
    'tool',
  ]);
  expect(await page.locator('section').innerText()).toMatch(/refund-1 approved, by ann as they say/);
});

async function heightOf(locator: { boundingBox(): Promise<{ height: number } | null> }): Promise<number> {
  return (await locator.boundingBox())?.height ?? 0;
}

async function runIdOf(handle: { describe(): Promise<{ runId: string }> }): Promise<string> {
  return (await handle.describe()).runId;
}
