/** The demo's run, as its report shows it: a worker was killed, another went on, and a person is waited for. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { command } from '../kit/command.ts';
import { openReport } from '../kit/report-browser.ts';
import { until } from '../kit/temporal.ts';

const main = fileURLToPath(new URL('../../examples/demo/main.ts', import.meta.url));
const flags = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning'];

test('the report of the demo tells what was given again, what waits, and what it cost', async () => {
  const { TEMPORAL_ADDRESS: _address, ...environment } = process.env;
  const demo = spawn(process.execPath, [...flags, main], { env: { ...environment, OPENAI_API_KEY: '' } });
  const ended = new Promise((resolve) => void demo.once('exit', resolve));
  try {
    let said = '';
    for (const stream of [demo.stdout, demo.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => void (said += text));
    const says = async (line: RegExp) => (await until(() => line.exec(said) ?? undefined, `${line}`))[1]!;
    await says(/^(Approval) /m);
    const workflowId = await says(/^Run +(\S+)$/m);
    const ui = new URL(await says(/(http\S+\/namespaces\/\S+)/)).origin;
    const file = join(mkdtempSync(join(tmpdir(), 'report-')), 'demo.html');
    const where = ['--address', await says(/^Temporal +([\w.:]+),/m), '--ui', ui];
    expect(await command('report', workflowId, '-o', file, ...where)).toMatchObject({ code: 0, stderr: '' });
    await using report = await openReport(file);
    const { page, did, bytes } = report;
    const summary = await page.locator('header dl').innerText();
    expect(summary).toMatch(/running[\s\S]*Spent\s+\d turns, [\s\S]*Restarts\s+1 time, which took \d+ ms/);
    expect(
      await page.locator('summary', { hasText: 'given again from its record 1 time' }).count(),
    ).toBeGreaterThan(2);
    expect(await page.locator('summary', { hasText: 'result of lookup_orders: ' }).count()).toBe(1);
    expect(await page.locator('.steps i.wait.open').count()).toBe(1);
    expect(bytes).toBeLessThan(40_000);
    expect(did).toEqual([]);
    const picture = process.env['REPORT_PICTURE'];
    if (picture) {
      await page.locator('summary', { hasText: 'check_defect' }).first().click();
      await page.screenshot({ path: picture, fullPage: true });
    }
    // Temporal's own UI shows the same in short: markdown, in a frame of its own.
    await page.setViewportSize({ width: 1_360, height: 1_250 });
    await page.goto(await says(/(http\S+\/namespaces\/\S+)/));
    await page.getByRole('tab', { name: 'User Metadata' }).click();
    const details = page.frameLocator('#user-metadata-current-details');
    await details.getByRole('heading', { name: 'Waiting for a decision' }).waitFor();
    const shown = await details.locator('body').innerText();
    expect(shown).toMatch(/Not asked again after 1 restart \(\d+ ms\): 2 model turns/);
    expect(shown).toMatch(/Perhaps paid for nothing, .+: 1 model turn/);
    expect(await details.locator('tbody tr').count()).toBe(6);
    expect(await details.locator('tbody tr', { hasText: 'lookup_orders' }).innerText()).toMatch(
      /^2 tool lookup_orders\s+\d+ ms\s+given again 1 time$/,
    );
    const pictureInUi = process.env['DETAILS_PICTURE'];
    if (pictureInUi) await page.screenshot({ path: pictureInUi });
    demo.stdin.write('y\n');
    expect(await says(/^Answer +(.+)$/m)).toMatch(/on their way back/);
    await ended;
  } finally {
    demo.kill();
    await ended;
  }
});
