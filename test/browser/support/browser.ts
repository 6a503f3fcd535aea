import { existsSync } from 'node:fs'
import { after } from 'node:test'
import sparticuz from '@sparticuz/chromium'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
} from 'playwright-core'

const switches = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let running: Promise<Browser> | undefined

async function launch(): Promise<Browser> {
  const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  const executablePath =
    installed.find((path) => existsSync(path)) ?? (await sparticuz.executablePath())
  return chromium.launch({ executablePath, args: switches })
}

/** A new profile of the one browser of this process. */
export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  running ??= launch()
  const context = await (await running).newContext({ locale: 'en-GB', ...options })
  context.setDefaultTimeout(10_000)
  return context
}

after(async () => {
  await (await running)?.close()
})
