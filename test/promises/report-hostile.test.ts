/** What models, tools and people say is text, in the report's page and in the terminal that wrote it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { answer, approve, report, waiting } from '../../src/index.ts';
import { blobScene } from '../kit/blob-scene.ts';
import { command } from '../kit/command.ts';
import { EFFECTS, HOSTILE, HOSTILE_PARTS } from '../kit/hostile.ts';
import { openReport } from '../kit/report-browser.ts';
import { unique, until } from '../kit/temporal.ts';

test('nothing that was said takes effect, and 10 MB of it are a page of a few KB', async () => {
  await using stage = await blobScene('report-agents', { script: () => ({ text: HOSTILE }) });
  await stage.spawn();
  const { script, ansi } = HOSTILE_PARTS;
  const handle = await stage.start('hostile', 'x', unique(`${script}${ansi}/..`));
  await until(async () => (await handle.query(waiting)).approvals[0], 'the approval', 30_000);
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  const read = async (name: string) => {
    const file = join(folder, name);
    const said = await command('report', handle.workflowId, '-o', file);
    expect(said).toMatchObject({ code: 0, stderr: '' });
    expect(said.stdout).not.toMatch(EFFECTS);
    return await openReport(file);
  };
  const assertText = async ({ page, did, bytes }: Awaited<ReturnType<typeof read>>) => {
    expect(bytes).toBeLessThan(60_000);
    // Everything can be seen and pointed at.
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    for (const summary of await page.locator('summary').all()) await summary.hover();
    const made =
      'script, img, iframe, svg, form, input, base, meta[http-equiv="refresh"], b, textarea, pre, body style';
    expect(await page.locator(made).count()).toBe(0);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.locator('[onmouseover], [onclick], [onerror]').count()).toBe(0);
    const links = await page.locator('a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    expect(links.filter((href) => !href!.startsWith('#run-'))).toEqual([]);
    expect(await page.title()).toMatch(/^hostile /);
    const text = await page.evaluate<string>('document.body.innerText');
    for (const part of ['<script>document.title', '<img src=', '</style>', '[click](javascript:'])
      expect(text).toContain(part);
    expect(text.replaceAll('\t', ' ')).not.toMatch(EFFECTS);
    expect(did).toEqual([]);
  };
  {
    await using open = await read('waits.html');
    await assertText(open);
    expect(await open.page.locator('section').innerText()).toContain('refund-1: Refund? <script>');
  }
  await handle.signal(approve, { id: 'refund-1', by: HOSTILE, note: HOSTILE });
  const question = await until(async () => (await handle.query(waiting)).questions[0], 'the question');
  await handle.signal(answer, { id: question.id, value: HOSTILE, by: HOSTILE });
  await expect(handle.result()).rejects.toThrow();
  await using open = await read('failed.html');
  await assertText(open);
  expect(await open.page.locator('header').innerText()).toMatch(/failed\s+Ended with\s+Error: <script>/);
  const { steps } = await stage.client.workflow.getHandle(handle.workflowId).query(report);
  expect(steps.find(({ name }) => name === 'flood')!.bytes).toBeGreaterThan(10_000_000);

  // The page itself, in a terminal.
  const { stdout } = await command('report', handle.workflowId, '-o', '-');
  expect(stdout).toMatch(/^<!doctype html>/);
  expect(stdout).not.toMatch(EFFECTS);
});
