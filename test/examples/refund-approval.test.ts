/** What a person sees and does: the example's run, in Temporal's own UI, in a browser; and over HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../kit/browser.ts';
import { until } from '../kit/temporal.ts';

const folder = new URL('../../examples/refund-approval/', import.meta.url);
const flags = ['--conditions=@temporal-agents/source', '--disable-warning=ExperimentalWarning'];

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser()));
afterAll(async () => await browser.close());

interface Example extends AsyncDisposable {
  process: ChildProcess;
  /** What it said, line by line. */
  said: string[];
  /** The part of a line in brackets, once there is one. */
  says(line: RegExp): Promise<string>;
  ended: Promise<unknown>;
}

/** The example as anybody starts it, with a server and a UI of its own. */
function start(): Example {
  const { TEMPORAL_ADDRESS: _address, ...environment } = process.env;
  const main = fileURLToPath(new URL('main.ts', folder));
  const child = spawn(process.execPath, [...flags, main], { env: { ...environment, OPENAI_API_KEY: '' } });
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream
      .setEncoding('utf8')
      .on('data', (text: string) => void said.push(...text.split('\n').filter(Boolean)));
  const says = async (line: RegExp) =>
    (await until(() => said.map((each) => line.exec(each)).find((found) => found), `${line}`))![1]!;
  const dispose = async () => {
    child.kill();
    await ended;
  };
  return { process: child, said, says, ended, [Symbol.asyncDispose]: dispose };
}

test('a person sees in the Temporal UI what waits, approves it there, and sees the run complete', async () => {
  await using example = start();
  const url = await example.says(/in the Temporal UI: (\S+)/);
  const page = await browser.newPage({ viewport: { width: 1360, height: 1000 } });
  await page.goto(url);
  await page.getByRole('tab', { name: 'User Metadata' }).click();
  // The UI shows the markdown of a run in a frame of its own.
  const details = page.frameLocator('iframe');
  await details.getByRole('heading', { name: 'Waiting for a decision' }).waitFor();
  const shown = await details.locator('body').innerText();
  expect(shown).toMatch(
    /Waiting for a decision: issue_refund-1\s+Refund \$240 for order A-\d+\?\s+For support/,
  );
  expect(shown).toContain('{"id":"issue_refund-1"}');
  // What it has spent so far: markdown, shown as such.
  const spent = details.locator('p', { hasText: 'Spent by' });
  expect(await spent.innerText()).toMatch(
    /^Spent by @pydantic\/genai-prices [\d.]+: 1 model turn, [\d,]+ tokens in.*, [\d,]+ out.*, \$\d+\.\d+$/,
  );
  expect(await spent.locator('strong').allInnerTexts()).toEqual([
    expect.stringMatching(/^[\d,]+$/),
    expect.stringMatching(/^[\d,]+$/),
    expect.stringMatching(/^\$\d+\.\d+$/),
  ]);
  const picture = process.env['PICTURE'];
  if (picture) await page.screenshot({ path: picture });

  const payload = await details.getByText('{"id":"issue_refund-1"}', { exact: true }).innerText();
  await page.getByRole('button', { name: 'More Actions' }).click();
  await page.locator('[data-testid="signal-button"]:visible').click();
  await page.locator('[data-testid="signal-select-button"]:visible').click();
  await page.getByRole('option', { name: 'approve', exact: true }).click();
  await page.locator('.cm-content[role="textbox"]:visible').fill(payload);
  await page
    .locator('[data-testid="signal-confirmation-modal"]:visible [data-testid="confirm-modal-button"]')
    .click();

  expect(await example.says(/^Agent +(.*)/)).toMatch(/^Settled\. \$240 paid back for order A-\d+$/);
  expect(await example.says(/^Decided +(.*)/)).toMatch(
    /^issue_refund-1 approved; by nobody, as they say; sent by somebody without identity$/,
  );
  await example.ended;
  expect(example.said.filter((line) => /error/i.test(line))).toEqual([]);
  await page.close();
});

test('the gateway takes a decision, with other arguments, from who may decide, and says why it takes no other', async () => {
  await using example = start();
  const [, url, authorization] = /curl (\S+) -H 'authorization: (.+?)'/.exec(
    await example.says(/^ +or: (.*)/),
  )!;
  const post = async (body: unknown, headers: Record<string, string> = { authorization: authorization! }) => {
    const response = await fetch(url!, { method: 'POST', headers, body: JSON.stringify(body) });
    return [response.status, await response.json()];
  };
  const order = /orders\/([^/]+)/.exec(url!)![1]!;
  expect(await post({ id: 'issue_refund-1', decision: 'approve' }, {})).toMatchObject([401, {}]);
  expect(await post('approve')).toMatchObject([400, {}]);
  expect(await post({ id: 'issue_refund-2', decision: 'approve' })).toMatchObject([
    409,
    { code: 'unknown-id', error: 'nothing here has the id "issue_refund-2"; what waits: issue_refund-1' },
  ]);
  const changed = { order, usd: 120 };
  expect(await post({ id: 'issue_refund-1', decision: 'approve', arguments: changed, by: 'bob' })).toEqual([
    200,
    { id: 'issue_refund-1', workflowId: `refund-${order}` },
  ]);
  expect(await example.says(/^Agent +(.*)/)).toBe(
    `Settled. A person changed the arguments of this call before it was made, to ${JSON.stringify(changed)}.`,
  );
  // Who decided is who has the token, whatever the body says.
  expect(await example.says(/^Decided +(.*)/)).toMatch(
    /^issue_refund-1 approved, changed to \{"order":"A-\d+","usd":120\}; by ann, as they say/,
  );
});
