/** A real browser for the pages of the simulator. */
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    // A container has no user namespaces for the sandbox; the pages are ours.
    args: ['--no-sandbox', '--disable-gpu'],
  })
}
