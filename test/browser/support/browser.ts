import { after } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { launchChromium } from '../../rig/chromium.ts'

let running: Promise<Browser> | undefined

/** A new profile of the one browser of this process. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  running ??= launchChromium()
  const context = await (await running).newContext({ locale: 'en-GB', ...options })
  // A busy machine delays everything.
  context.setDefaultTimeout(60_000)
  return context
}

after(async () => {
  await (await running)?.close()
})
