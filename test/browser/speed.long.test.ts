/** The shopper waits for nothing and sees nothing jump. Measures are printed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newContext } from './support/browser.ts'
import { type RealGateway, realGateway } from './support/real-gateway.ts'
import { openShop, type Shop } from './support/shop.ts'
import { numberField } from './support/shopper.ts'

const watch = `
  window.seen = { shift: 0, tasks: [] }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.seen.shift += entry.hadRecentInput ? 0 : entry.value
  }).observe({ type: 'layout-shift', buffered: true })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.seen.tasks.push(Math.round(entry.duration))
  }).observe({ type: 'longtask', buffered: true })
`

type Seen = { readonly shift: number; readonly tasks: readonly number[] }

describe('the speed of the widget', () => {
  let gateway: RealGateway
  let shop: Shop
  let checkoutId = ''
  before(async () => {
    gateway = await realGateway()
    shop = await openShop(() => gateway.scriptOf(checkoutId))
    checkoutId = (await gateway.checkout()).id
  })
  after(async () => {
    await Promise.all([shop?.close(), gateway?.close()])
  })

  test('fields appear soon, and nothing jumps', async (context) => {
    shop.show({ head: `<script>${watch}</script>`, after: '<footer><p>Imprint</p></footer>' })
    const times: number[] = []
    let seen: Seen = { shift: 0, tasks: [] }
    for (let round = 0; round < 5; round++) {
      const browser = await newContext({ viewport: { width: 480, height: 900 } })
      const page = await browser.newPage()
      const started = performance.now()
      await page.goto(shop.address, { waitUntil: 'commit' })
      await numberField(page).waitFor()
      times.push(performance.now() - started)
      await page.waitForLoadState('networkidle')
      seen = await page.evaluate(() => (window as unknown as { seen: Seen }).seen)
      await browser.close()
    }
    const median = times.sort((one, other) => one - other)[2]!
    context.diagnostic(
      `fields usable after ${Math.round(median)} ms, layout shift ${seen.shift.toFixed(4)}`,
    )
    assert.ok(seen.shift <= 0.02, `${seen.shift}`)
  })

  test('a slow phone is never blocked for long', async (context) => {
    shop.show({ head: `<script>${watch}</script>` })
    const browser = await newContext({ viewport: { width: 360, height: 700 } })
    const page = await browser.newPage()
    const session = await browser.newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    await page.goto(shop.address)
    await numberField(page).waitFor()
    await numberField(page).pressSequentially('4200000000000000')
    const { tasks } = await page.evaluate(() => (window as unknown as { seen: Seen }).seen)
    context.diagnostic(
      `tasks over 50 ms on a processor four times slower: ${tasks.join(' ms, ') || 'none'}`,
    )
    assert.ok(tasks.length < 4)
    await browser.close()
  })
})
