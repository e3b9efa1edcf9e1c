/** The report of a run as a file, by the command line, in a browser. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { launchBrowser } from '../kit/browser.ts';
import { command } from '../kit/command.ts';
import { scene } from '../kit/scene.ts';

test('is written by one command, and shows the run and those below it in a browser', async () => {
  await using stage = await scene('spending-agents');
  await stage.spawn();
  const handle = await stage.start('explorer', 'Mars');
  await handle.result();
  const file = join(mkdtempSync(join(tmpdir(), 'report-')), 'mars.html');
  const { stdout, stderr, code } = await command(
    'report',
    handle.workflowId,
    '-o',
    file,
    '--ui',
    'http://ui.example/',
  );
  expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/mars\.html: 5 steps, \d+ bytes\n$/)]);

  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1_200, height: 900 } });
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
    await page.goto(pathToFileURL(file).href);
    expect(await page.locator('h1').innerText()).toContain('explorer');
    expect(await page.locator('header dl').innerText()).toMatch(/completed[\s\S]*7 turns/);
    expect(await page.locator('nav li').count()).toBe(3);
    expect(await page.locator('section').count()).toBe(3);
    expect(await page.locator('details').count()).toBe(5 + 2 * 3);
    const link = await page.getByRole('link', { name: "Open in Temporal's UI" }).first().getAttribute('href');
    expect(link).toBe(
      `http://ui.example/namespaces/default/workflows/${handle.workflowId}/${await runIdOf(handle)}`,
    );
    // By keyboard alone: the first step of the first scout, and what its tool answered.
    await page.locator('summary').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('details[open]').first().waitFor();
    const tool = page.locator('details', { hasText: 'look' }).first();
    await tool.locator('summary').click();
    expect(await tool.innerText()).toContain('<script>alert(\\"Mars');
    const picture = process.env['REPORT_PICTURE'];
    if (picture) await page.screenshot({ path: picture });
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toMatch(
      /rgb\((\d|[1-6]\d), /,
    );
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('says what is wrong in one line', async () => {
  const unknown = await command('report', 'no-such-run');
  expect(unknown).toMatchObject({
    code: 1,
    stderr: 'The server knows no workflow no-such-run in namespace default.\n',
  });
  const none = await command('report');
  expect([none.code, none.stderr]).toEqual([
    1,
    expect.stringContaining("missing required argument 'workflow-id'"),
  ]);
});

async function runIdOf(handle: { describe(): Promise<{ runId: string }> }): Promise<string> {
  return (await handle.describe()).runId;
}
