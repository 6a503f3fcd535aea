import type { BrowserContext, BrowserContextOptions } from 'playwright-core'
import { sharedChromium } from '../../rig/shared-chromium.ts'

/** A new profile of the one browser of this process. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await sharedChromium()).newContext({ locale: 'en-GB', ...options })
  // A busy machine delays everything.
  context.setDefaultTimeout(60_000)
  return context
}
