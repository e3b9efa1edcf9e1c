/** The report of a run of thousands of steps. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { RunReport } from '../../src/index.ts';
import { collectReport } from '../../src/report/collect.ts';
import { command } from '../kit/command.ts';
import { openReport } from '../kit/report-browser.ts';
import { scene } from '../kit/scene.ts';
import { client } from '../kit/temporal.ts';

const STEPS = process.env['TEST_SOAK'] ? 3_000 : 1_200;

test('thousands of steps come in pages that any reader takes, and open and scroll to the end in a browser', async () => {
  await using stage = await scene('report-agents');
  await stage.spawn();
  const began = Date.now();
  const handle = await stage.start('busy', { steps: STEPS, batch: 25 });
  await handle.result();
  const ran = Date.now() - began;

  const pages: RunReport[] = [];
  const { report } = await collectReport(await client(), handle.workflowId, {
    onPage: (page) => void pages.push(page),
  });
  expect(report.steps.map(({ no }) => no)).toEqual(Array.from({ length: STEPS }, (_, no) => no));
  const sizes = pages.map((page) => Buffer.byteLength(JSON.stringify(page)));
  expect(pages).toHaveLength(Math.ceil(STEPS / 1_000));
  expect(Math.max(...sizes)).toBeLessThan(1024 * 1024);

  const file = join(mkdtempSync(join(tmpdir(), 'report-')), 'long.html');
  const { stdout } = await command('report', handle.workflowId, '-o', file);
  expect(stdout).toContain(`${STEPS} steps`);
  await using open = await openReport(file);
  const { page, did, bytes, ms } = open;
  expect(await page.locator('details').count()).toBe(STEPS);
  const last = page.locator('summary').last();
  // What is far away is not laid out before it is near.
  const scrolled = performance.now();
  await page.keyboard.press('End');
  await last.click();
  expect(await page.locator('details').last().locator('dl').innerText()).toContain('Began');
  const scroll = Math.round(performance.now() - scrolled);
  expect(did).toEqual([]);
  expect(bytes).toBeLessThan(3_000_000);

  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(Buffer.byteLength(currentDetails)).toBeLessThan(4_096);
  process.stdout.write(
    `${STEPS} steps in ${ran} ms; pages of ${sizes.join(', ')} bytes; a file of ${bytes} bytes, open in ${ms} ms, at its end in ${scroll} ms; ${Buffer.byteLength(currentDetails)} bytes of details\n`,
  );
}, 180_000);
