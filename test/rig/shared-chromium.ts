import { after } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium } from './chromium.ts'

let shared: Promise<Browser> | undefined

/** The one browser of this process, for all its files. */
export function sharedChromium(): Promise<Browser> {
  shared ??= launchChromium()
  return shared
}

// Whoever shares the process shares the hook: it runs after the last file.
after(async () => {
  await (await shared)?.close()
})
