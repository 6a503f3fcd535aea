/** The event feed of two pods: every event once, and a cursor with the positions of both. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { GatewayError, Pods } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'

describe('the event feed of several pods', () => {
  let first: TestGateway
  let second: TestGateway
  let pods: Pods
  before(async () => {
    first = await startGateway()
    const installationKey = await first.gateway.installationKey()
    second = await startGateway({ pod: { number: 3, installationKey } })
    pods = new Pods([second.gateway, first.gateway])
  })
  after(async () => {
    await second.close()
    await first.close()
  })

  const refused = (error: unknown) => error instanceof GatewayError && error.status === 400

  /** The payments of all pages from here to the end, page by page. */
  async function follow(from: Parameters<Pods['events']['list']>[0]) {
    const pages: string[][] = []
    for (let next = from; ; ) {
      const page = await pods.events.list(next)
      pages.push(page.events.map(({ payload }) => payload.id))
      if (!page.more) return { pages, nextCursor: page.nextCursor }
      next = {
        cursor: page.nextCursor,
        ...(from?.limit === undefined ? {} : { limit: from.limit }),
      }
    }
  }

  /** An event comes once no older transaction is open, and other tests have theirs on this server. */
  const visible = (cursor: string, ids: readonly string[]) =>
    until(async () => {
      const told = new Set((await follow({ cursor })).pages.flat())
      return ids.every((id) => told.has(id)) || undefined
    })

  test('each event comes once, in the order of its pod, and no page is longer than asked', async () => {
    const { nextCursor: cursor } = await follow({ since: 'NOW' })
    const paid: Record<'here' | 'there', string[]> = { here: [], there: [] }
    for (let count = 0; count < 5; count += 1) {
      paid.here.push((await first.pay()).id)
      if (count < 3) paid.there.push((await second.pay()).id)
    }
    await visible(cursor, [...paid.here, ...paid.there])
    for (const limit of ['1', '2', '100']) {
      const { pages } = await follow({ cursor, limit })
      const all = pages.flat()
      assert.ok(pages.every((page) => page.length <= Number(limit)))
      assert.deepEqual(
        all.filter((id) => paid.here.includes(id)),
        paid.here,
      )
      assert.deepEqual(
        all.filter((id) => paid.there.includes(id)),
        paid.there,
      )
      assert.equal(all.length, 8, `with ${limit} on a page`)
    }
    const { pages: turns } = await follow({ cursor, limit: '1' })
    assert.ok(
      paid.there.includes(turns[1]![0]!) !== paid.there.includes(turns[0]![0]!),
      'the pod that filled a page comes last in the next',
    )
  })

  test('a first page without room for a pod keeps its beginning, or the moment it began at', async () => {
    const since = new Date(Date.now() + 1_000).toISOString().slice(0, 19).replace('T', ' ')
    const all = new Set((await follow({ limit: '1' })).pages.flat())
    for (const run of [first, second]) {
      const [row] = await run.sql<{ id: string }>('select id from tollgate.payment limit 1')
      assert.ok(all.has(row!.id))
    }
    const later = await follow({ since, limit: '1' })
    assert.deepEqual(later.pages.flat(), [], 'nothing is later than the moment')
    const page = await pods.events.list({ since: '2020-01-01', limit: '1' })
    assert.match(page.nextCursor, /^3:@[0-9a-z]+~0:[0-9]/, 'pod 3 was not read yet')
    assert.equal((await pods.events.list({ cursor: page.nextCursor, limit: '1' })).events.length, 1)
  })

  test('a pod whose database hangs holds the others up once, and then is left out for a while', async () => {
    const usual = { podFeedMs: limits.podFeedMs, podFeedRestMs: limits.podFeedRestMs }
    let line: Line | undefined
    const through = async (url: string) => {
      line = await lineTo(url)
      return line.url
    }
    const installationKey = await first.gateway.installationKey()
    const hanging = await startGateway({ through, pod: { number: 5, installationKey } })
    const three = new Pods([first.gateway, hanging.gateway])
    try {
      const { nextCursor } = await three.events.list({ since: 'NOW' })
      const waiting = three.events.list({ cursor: nextCursor, wait: '20' })
      Object.assign(limits, { podFeedMs: 200, podFeedRestMs: 3_600_000 })
      line!.stall()
      const here = await first.pay()
      const told = await waiting
      assert.ok(told.events.some(({ payload }) => payload.id === here.id))
      assert.deepEqual((await three.events.list({ cursor: nextCursor })).podsAway, [5])
      line!.resume()
      const there = await hanging.pay()
      const next = { cursor: nextCursor }
      assert.deepEqual((await three.events.list(next)).podsAway, [5], 'it is not asked yet')
      const again = new Pods([first.gateway, hanging.gateway])
      assert.equal((await again.events.list(next)).podsAway, undefined)
      // The cursor kept its place. An event comes once no transaction before it is open.
      await until(async () => {
        const { events } = await again.events.list(next)
        const ids = events.map(({ payload }) => payload.id)
        return (ids.includes(here.id) && ids.includes(there.id)) || undefined
      })
    } finally {
      Object.assign(limits, usual)
      await hanging.close()
      await line?.close()
    }
  })

  test('a wait ends with the first event of any pod', async () => {
    const { nextCursor: cursor } = await follow({ since: 'NOW' })
    const waiting = pods.events.list({ cursor, wait: '30' })
    const { id } = await second.pay()
    const page = await waiting
    assert.deepEqual(
      page.events.map(({ payload }) => payload.id),
      [id],
    )
    const empty = await pods.events.list({ cursor: page.nextCursor, wait: '1' })
    assert.deepEqual([empty.events, empty.more], [[], false])
    assert.deepEqual((await follow({ cursor: empty.nextCursor })).pages, [[]])
  })

  test('a cursor that is none, of another pod, or of one pod twice is refused', async () => {
    const { nextCursor } = await pods.events.list({ since: 'NOW' })
    const [one = ''] = nextCursor.split('~')
    for (const cursor of ['', 'x', one.slice(2), `7:${one.slice(2)}`, `${one}~${one}`, `${one}~`]) {
      await assert.rejects(pods.events.list({ cursor }), refused, cursor)
    }
    const { nextCursor: whole } = await pods.events.list({ cursor: one })
    assert.match(whole, /0:.*3:|3:.*0:/, 'a newer pod is read from its beginning')
  })

  test('a pod that is away keeps its position, and the page names it', async () => {
    const { nextCursor: cursor } = await follow({ since: 'NOW' })
    const { id } = await first.pay()
    const alone = new Pods([first.gateway], { away: [3] })
    const page = await alone.events.list({ cursor, wait: '30' })
    assert.deepEqual(page.podsAway, [3])
    assert.deepEqual(
      page.events.map(({ payload }) => payload.id),
      [id],
    )
    const { id: later } = await second.pay()
    await visible(page.nextCursor, [later])
    const { pages } = await follow({ cursor: page.nextCursor })
    assert.deepEqual(pages.flat(), [later])
  })
})

describe('a set of pods', () => {
  test('a number twice, a missing gateway and a foreign number are refused', async () => {
    const run = await startGateway()
    try {
      const { gateway } = run
      assert.throws(() => new Pods([]), /at least one gateway/)
      assert.throws(() => new Pods([gateway], { away: [0] }), /pod 0 is given twice/)
      assert.throws(() => new Pods([gateway], { away: [50] }), /number from 0 to 49/)
      const pods = new Pods([gateway], { away: [1] })
      assert.throws(() => pods.add(gateway), /pod 0 is given twice/)
      assert.deepEqual(pods.numbers, [0, 1])
      assert.equal(pods.at(1), undefined)
    } finally {
      await run.close()
    }
  })
})
