/** A report in a browser, and whatever it did there that a text does not do. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';

export interface OpenReport extends AsyncDisposable {
  page: Page;
  /** Milliseconds until it was there. */
  ms: number;
  bytes: number;
  /** Errors, lines of the console, dialogs, and requests for anything but the file. */
  did: string[];
}

export async function openReport(file: string): Promise<OpenReport> {
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1_200, height: 900 } });
  const { href } = pathToFileURL(file);
  const did: string[] = [];
  page.on('pageerror', (error) => void did.push(`error: ${error.message}`));
  page.on('console', (line) => void did.push(`console: ${line.text()}`));
  page.on('request', (request) => void (request.url() !== href && did.push(`request: ${request.url()}`)));
  page.on('dialog', (dialog) => {
    did.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const began = performance.now();
  await page.goto(href);
  return {
    page,
    ms: Math.round(performance.now() - began),
    bytes: readFileSync(file).length,
    did,
    [Symbol.asyncDispose]: async () => await browser.close(),
  };
}
