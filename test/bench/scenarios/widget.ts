/** The widget as a shopper gets it: sizes, the time until fields can be used, and what a slow phone feels. */
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { assets } from '../../../plugins/widget/index.ts'
import { openShop, type Shop } from '../../browser/support/shop.ts'
import { numberField } from '../../browser/support/shopper.ts'
import { launchChromium } from '../../rig/chromium.ts'
import { printRows } from '../print.ts'
import { median } from '../rounds.ts'
import { type Ground, newTarget, type Scenario, type Target } from './ground.ts'

type Row = readonly [measure: string, value: string, target: string]

const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} kB`
const zipped = (bytes: Buffer | string) => gzipSync(bytes, { level: 9 }).length

/** What a page with a form for cards loads until a shopper can type, in the largest language. */
function sizes(): Row[] {
  const sizeOf = (name: string) => zipped(assets.files.find((file) => file.name === name)!.bytes)
  const loader = zipped(assets.loader.bytes)
  const languages = assets.files
    .filter(({ name }) => name.startsWith('texts-'))
    .map(({ bytes }) => zipped(bytes))
  const language = Math.max(...languages)
  const files = [
    'page.js',
    'widget.css',
    'number.js',
    'cvv.js',
    'brand-VISA.svg',
    'brand-MASTER.svg',
  ]
  const frames = assets.frames.filter(({ name }) => name === 'number' || name === 'cvv')
  const critical = [
    loader,
    language,
    ...files.map(sizeOf),
    ...frames.map(({ html }) => zipped(html)),
  ].reduce((sum, size) => sum + size, 0)
  return [
    ['loader, gzip', kilobytes(loader), '10 kB at most'],
    ['until a shopper can type, gzip', kilobytes(critical), '45 kB at most'],
    [`largest of ${languages.length} languages, gzip`, kilobytes(language), '3 kB at most'],
  ]
}

/** Runs in the page and in every frame, also those of another origin. */
const watch = `
  window.seen = { shift: 0, tasks: [] }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.seen.shift += entry.hadRecentInput ? 0 : entry.value
  }).observe({ type: 'layout-shift', buffered: true })
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      window.seen.tasks.push({ atMs: performance.timeOrigin + startTime, ms: Math.round(duration) })
    }
  }).observe({ type: 'longtask', buffered: true })
`

type Task = { readonly atMs: number; readonly ms: number }
type Seen = { readonly shift: number; readonly tasks: readonly Task[] }

async function seenIn(page: Page): Promise<Seen> {
  const all = await Promise.all(
    page.frames().map((frame) => frame.evaluate(() => (window as unknown as { seen: Seen }).seen)),
  )
  return {
    shift: Math.max(...all.map(({ shift }) => shift)),
    tasks: distinct(all.flatMap(({ tasks }) => tasks)),
  }
}

/** Frames of one process tell the same tasks, by clocks that differ a little. */
function distinct(tasks: readonly Task[]): Task[] {
  const inOrder = tasks.toSorted((one, other) => one.atMs - other.atMs)
  return inOrder.filter((task, at) => at === 0 || task.atMs - inOrder[at - 1]!.atMs > 5)
}

/** A new profile, so that nothing is cached. */
async function visit<T>(
  browser: Browser,
  width: number,
  look: (page: Page, context: BrowserContext) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width, height: 900 } })
  try {
    await context.addInitScript(watch)
    return await look(await context.newPage(), context)
  } finally {
    await context.close()
  }
}

async function timeToFields(browser: Browser, shop: Shop, rounds: number): Promise<Row[]> {
  const times: number[] = []
  const shifts: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await visit(browser, 480, async (page) => {
      const started = performance.now()
      await page.goto(shop.address, { waitUntil: 'commit' })
      await numberField(page).waitFor()
      times.push(performance.now() - started)
      await page.waitForLoadState('networkidle')
      shifts.push((await seenIn(page)).shift)
    })
  }
  return [
    [`fields usable, median of ${rounds}`, `${median(times).toFixed(0)} ms`, '400 ms at most'],
    ['layout shift, highest', Math.max(...shifts).toFixed(4), '0.02 at most'],
  ]
}

/** Loads the page and types a number on a processor four times slower. */
async function slowPhone(browser: Browser, shop: Shop): Promise<Row[]> {
  const { tasks } = await visit(browser, 360, async (page, context) => {
    const session = await context.newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    await page.goto(shop.address)
    await numberField(page).pressSequentially('4200000000000000')
    return seenIn(page)
  })
  const told = tasks.length === 0 ? 'none' : tasks.map(({ ms }) => `${ms} ms`).join(', ')
  return [['tasks over 50 ms, four times slower', told, 'none']]
}

async function newCheckout({ port, token, entityId }: Target): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/checkouts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ entityId, amount: '92.00', currency: 'EUR', paymentType: 'DB' }),
  })
  const { id } = (await response.json()) as { id?: string }
  if (id === undefined) throw new Error(`no checkout was made: ${response.status}`)
  return id
}

async function run(ground: Ground): Promise<void> {
  const { stop, isSmall } = ground
  const target = await newTarget(ground, 'widget')
  const id = await newCheckout(target)
  const shop = await openShop(
    () => `http://127.0.0.1:${target.port}/v1/paymentWidgets.js?checkoutId=${id}`,
  )
  stop.defer(shop.close)
  shop.show({ after: '<footer><p>Imprint</p></footer>' })
  const browser = await launchChromium()
  stop.defer(() => browser.close())
  // Compresses the files once, as a host has after its first shopper.
  await timeToFields(browser, shop, 1)
  printRows(
    ['', 'measured', 'target'],
    [
      ...sizes(),
      ...(await timeToFields(browser, shop, isSmall ? 1 : 9)),
      ...(await slowPhone(browser, shop)),
    ],
  )
}

export const widget: Scenario = {
  name: 'widget',
  title: 'The widget: sizes, time until fields can be used, layout shift, long tasks',
  run,
}
