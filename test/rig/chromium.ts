/** A real browser for tests: the installed Chromium, or the one that a package brings. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import sparticuz from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const cache = join(import.meta.dirname, '../../node_modules/.cache')
const unpacked = join(cache, 'tollgate-chromium')

const switches = [
  '--headless',
  // A container has no user namespaces for the sandbox, and the pages are ours.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export async function launchChromium(): Promise<Browser> {
  const executablePath = installed.find((path) => existsSync(path)) ?? (await unpack())
  return chromium.launch({ executablePath, args: switches })
}

/** Unpacks beside the place and moves there at once, since test files start at the same moment. */
async function unpack(): Promise<string> {
  if (!existsSync(unpacked)) {
    await mkdir(cache, { recursive: true })
    const own = await mkdtemp(join(cache, 'chromium-'))
    const before = process.env.TMPDIR
    // The package unpacks into the folder for temporary files, which other users and projects share.
    process.env.TMPDIR = own
    try {
      await sparticuz.executablePath()
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
    await rename(own, unpacked).catch(() => rm(own, { recursive: true, force: true }))
  }
  return join(unpacked, 'chromium')
}
