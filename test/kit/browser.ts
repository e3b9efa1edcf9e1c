/** A headless Chromium, of the version that is pinned with the tests; on other systems than Linux, the Chrome that is there. */
import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

export async function launchBrowser(): Promise<Browser> {
  if (process.platform !== 'linux') return await chromium.launch({ channel: 'chrome' });
  return await chromium.launch({ executablePath: await sparticuz.executablePath(), args: sparticuz.args });
}
