/**
 * A search finds the same rows as a full scan in the same order, and paging by cursor returns each
 * once, also while payments arrive.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { type Caller, GatewayError, type QueryView } from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { inScope } from '../../rig/scope.ts'
import {
  brandsStored,
  type Draft,
  type Known,
  methodOf,
  paymentTypesStored,
  recordTypesStored,
  store,
} from './stock.ts'

const now = Date.now()
const dayMs = 86_400_000
const clusters = [now - 5 * dayMs, now - 400 * dayMs, now - 3000 * dayMs, now + 900 * dayMs]

/** A moment: mostly near others, often the same one. Only test clocks run ahead of real time. */
const moment = fc.oneof(
  fc.integer({ min: now - 3650 * dayMs, max: now - dayMs }),
  fc
    .tuple(fc.constantFrom(...clusters), fc.integer({ min: 0, max: 5000 }))
    .map(([at, more]) => at + more),
  fc.constantFrom(...clusters),
)
const references = ['order-0001', 'order-0002', 'order-0003', 'order of every day']

const draft: fc.Arbitrary<Draft> = fc
  .record({
    kind: fc.constantFrom(
      'payment' as const,
      'payment' as const,
      'payment' as const,
      'record' as const,
    ),
    atMs: moment,
    clock: fc.boolean(),
    channel: fc.nat(4),
    brand: fc.constantFrom(...brandsStored),
    payment: fc.constantFrom('DB', 'DB', 'PA', ...paymentTypesStored),
    record: fc.constantFrom(...recordTypesStored),
    merchantTransactionId: fc.constantFrom(null, null, ...references),
  })
  .map(({ payment, record, ...rest }) => ({
    ...rest,
    type: rest.kind === 'payment' ? payment : record,
    clock: rest.kind === 'payment' && (rest.clock || rest.atMs > now),
  }))

type Asked = {
  readonly node: number
  readonly by: 'time' | 'reference' | 'shortId'
  readonly from: number
  readonly to: number
  readonly reference: string
  readonly which: number
  readonly types: readonly string[] | null
  readonly methods: readonly string[] | null
  readonly limit: number
}

const asked: fc.Arbitrary<Asked> = fc.record({
  node: fc.nat(5),
  by: fc.constantFrom('time', 'time', 'time', 'reference', 'shortId'),
  from: fc.oneof(fc.constant(0), moment),
  to: fc.oneof(fc.constant(Date.UTC(2090, 0, 1)), moment),
  reference: fc.constantFrom(...references, 'order of nobody'),
  which: fc.nat(10_000),
  types: fc.option(
    fc.uniqueArray(fc.constantFrom(...paymentTypesStored, ...recordTypesStored, 'IV', 'TF'), {
      minLength: 1,
      maxLength: 6,
    }),
  ),
  methods: fc.option(
    fc.uniqueArray(fc.constantFrom('CC', 'DD', 'DC', 'OT'), { minLength: 1, maxLength: 3 }),
  ),
  limit: fc.integer({ min: 100, max: 500 }),
})

const wire = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
const second = (ms: number) => Math.floor(ms / 1000) * 1000

describe('searches', () => {
  let run: TestGateway
  let known: Known[]
  /** The channels below each node. */
  let nodes: { readonly id: string | undefined; readonly channels: readonly string[] }[]

  before(async () => {
    run = await startGateway({ pool: {} })
    const { entities } = run.gateway
    const name = 'Other'
    const merchant = await entities.create({ kind: 'merchant', name, parentId: run.division })
    const psp = await entities.create({ kind: 'psp', name })
    const division = await entities.create({ kind: 'division', name, parentId: psp })
    const foreign = await entities.create({ kind: 'merchant', name, parentId: division })
    const under = (parentId: string) => entities.create({ kind: 'channel', name, parentId })
    const channels = [run.channel, await under(run.merchant), await under(merchant)]
    const others = [await under(foreign), await under(foreign)]
    nodes = [
      { id: run.channel, channels: [run.channel] },
      { id: run.merchant, channels: channels.slice(0, 2) },
      { id: run.division, channels },
      { id: run.psp, channels },
      { id: psp, channels: others },
      { id: undefined, channels: [...channels, ...others] },
    ]
    // Some months have partitions, the others share the default one.
    await run.sql("select tollgate.create_partitions(now() - interval '14 months', 12)")
    const drafts = fc.sample(draft, { numRuns: 2500, seed: 20 })
    known = await store(run, [...channels, ...others], drafts)
  })
  after(() => run.close())

  /** A request and its expected result. */
  function expectation(one: Asked): { request: object; expected: Known[] } {
    const node = nodes[one.node]!
    const [from, to] = one.from <= one.to ? [one.from, one.to] : [one.to, one.from]
    const picked = known[one.which % known.length]!
    const request = {
      ...(node.id === undefined ? {} : { entityId: node.id }),
      ...(one.by === 'time' ? { date: { from: wire(from), to: wire(to) } } : {}),
      ...(one.by === 'reference' ? { merchantTransactionId: one.reference } : {}),
      ...(one.by === 'shortId' ? { shortId: picked.shortId } : {}),
      ...(one.types === null ? {} : { paymentTypes: one.types.join() }),
      ...(one.methods === null ? {} : { paymentMethods: one.methods.join() }),
      limit: String(one.limit),
    }
    const expected = known
      .filter(({ channel }) => node.channels.includes(channel))
      .filter(({ atMs }) => one.by !== 'time' || (atMs >= second(from) && atMs < second(to) + 1000))
      .filter((row) => one.by !== 'reference' || row.merchantTransactionId === one.reference)
      .filter(({ id }) => one.by !== 'shortId' || id === picked.id)
      .filter(({ type }) => one.types?.includes(type) ?? true)
      .filter(({ brand }) => one.methods?.includes(methodOf(brand)!) ?? true)
      .sort((a, b) => b.atMs - a.atMs || (a.id < b.id ? 1 : -1))
    return { request, expected }
  }

  async function search(request: object): Promise<QueryView | undefined> {
    try {
      return await run.gateway.query.search(request as never)
    } catch (error) {
      if (error instanceof GatewayError && error.code === '700.400.580') return undefined
      throw error
    }
  }

  const idsIn = (page: QueryView | undefined) => page?.records.map(({ id }) => id) ?? []

  test('a search finds the same as a full scan, page by page', async () => {
    const stored = new Set(known.map(({ id }) => id))
    await fc.assert(
      fc.asyncProperty(asked, async (one) => {
        const { request, expected } = expectation(one)
        const found: string[] = []
        let page = await search(request)
        // The test's own samples are not compared, but must not appear twice.
        for (;;) {
          found.push(...idsIn(page))
          if (page?.nextCursor === undefined) break
          assert.equal(page.records.length, one.limit)
          page = await search({ ...request, cursor: page.nextCursor })
        }
        assert.equal(new Set(found).size, found.length)
        assert.deepEqual(
          found.filter((id) => stored.has(id)),
          expected.map(({ id }) => id),
        )
      }),
      { numRuns: inScope(8, 30) },
    )
  })

  test('the number of a page matches its position', async () => {
    await fc.assert(
      fc.asyncProperty(asked, fc.nat(12), async (one, more) => {
        const { request } = expectation(one)
        const all: string[] = []
        for await (const { id } of run.gateway.query.all(request as never)) all.push(id)
        const pages = Math.min(100, Math.ceil(all.length / one.limit))
        const pageNo = 1 + (more % (pages + 1))
        const page = await search({ ...request, pageNo: String(pageNo) })
        assert.deepEqual(idsIn(page), all.slice((pageNo - 1) * one.limit, pageNo * one.limit))
        if (page !== undefined) assert.equal(page.pages, pages)
      }),
      { numRuns: inScope(6, 20) },
    )
  })

  test('a search returns each transaction once while other processes add payments', async () => {
    const other = await run.another()
    const stored = known.filter(({ channel }) => nodes[3]!.channels.includes(channel))
    const came = new Set<string>()
    const state = { walking: true }
    const paying = [run.gateway, other].map(async (on) => {
      while (state.walking) came.add((await run.pay({}, { on })).id)
    })
    try {
      for (let round = 0; round < 3; round += 1) {
        const found: string[] = []
        const all = run.gateway.query.all({
          entityId: run.psp,
          date: { from: '2000-01-01 00:00:00', to: '2090-01-01 00:00:00' },
          limit: '100',
        } as never)
        for await (const { id } of all) found.push(id)
        assert.equal(new Set(found).size, found.length)
        const isStored = new Set(stored.map(({ id }) => id))
        assert.equal(found.filter((id) => isStored.has(id)).length, stored.length)
      }
    } finally {
      state.walking = false
      await Promise.all(paying)
    }
    assert.ok(came.size > 10)
  })

  test('a search by a frequent reference returns its pages in order', async () => {
    const merchantTransactionId = 'the same for all of them'
    const drafts = fc.sample(draft, { numRuns: 3000, seed: 7 }).map((one) => ({
      ...one,
      channel: 0,
      kind: 'payment' as const,
      type: 'DB',
      merchantTransactionId,
    }))
    const many = await store(run, [run.channel], drafts)
    const found: string[] = []
    const all = run.gateway.query.all({ merchantTransactionId } as never)
    for await (const { id } of all) found.push(id)
    many.sort((a, b) => b.atMs - a.atMs || (a.id < b.id ? 1 : -1))
    assert.deepEqual(
      found,
      many.map(({ id }) => id),
    )
    known.push(...many)
  })

  test("a payment's creation time equals the time in its id", async () => {
    const paid = await run.pay({ paymentType: 'PA' })
    await run.gateway.payments.capture(paid.id, { amount: '1.00', currency: 'EUR' })
    const [row] = await run.sql<{ count: bigint }>(
      `select count(*) as count from tollgate.payment
       where clock_id is null
         and ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint <> round(extract(epoch from created_at) * 1000)`,
    )
    assert.equal(row?.count, 0n)
  })

  test('long searches leave connections to readers of single payments', async () => {
    const { id } = await run.pay()
    const lock = new pg.Client({ connectionString: run.database.url })
    await lock.connect()
    await lock.query('begin; lock table tollgate.record in access exclusive mode')
    const date = { from: '2000-01-01 00:00:00', to: '2090-01-01 00:00:00' }
    const searches = Array.from({ length: 12 }, () => run.gateway.query.search({ date } as never))
    try {
      const waiting = await run.sql<{ count: bigint }>(
        'select count(*) as count from pg_locks where not granted and relation = $1::regclass',
        ['tollgate.record'],
      )
      assert.ok(waiting[0]!.count <= 2n)
      assert.equal((await run.gateway.payments.get(id)).id, id)
    } finally {
      await lock.query('commit')
      await lock.end()
    }
    for (const page of await Promise.all(searches)) assert.equal(page.records.length, 100)
  })

  describe('cursors of searches', () => {
    const frame = { date: { from: '2000-01-01 00:00:00', to: '2090-01-01 00:00:00' } }
    const refused = async (request: object, options: { caller?: Caller } = {}) => {
      await assert.rejects(run.gateway.query.search(request as never, options), (error) => {
        assert.ok(error instanceof GatewayError)
        assert.equal(error.status, 400)
        assert.deepEqual(
          error.parameterErrors.map(({ name }) => name),
          ['cursor'],
        )
        return true
      })
    }

    test('a changed cursor, or that of another search, is refused by name', async () => {
      const { nextCursor = '' } = (await search(frame))!
      assert.notEqual(nextCursor, '')
      for (let at = 0; at < nextCursor.length; at += 1) {
        const other = nextCursor[at] === 'A' ? 'B' : 'A'
        const changed = nextCursor.slice(0, at) + other + nextCursor.slice(at + 1)
        // The last character of a base64 text can hold unused bits.
        const page = await run.gateway.query
          .search({ ...frame, cursor: changed } as never)
          .catch((error: GatewayError) => error.parameterErrors[0]?.name)
        assert.ok(page === 'cursor', `${at}: ${nextCursor[at]} → ${other}`)
      }
      await refused({ ...frame, paymentTypes: 'DB', cursor: nextCursor })
      await refused({ ...frame, cursor: 'x' })
      await refused({ ...frame, cursor: '..' })
    })

    test("a cursor shows another entity that entity's own transactions", async () => {
      const { nextCursor } = (await search({ ...frame, entityId: run.psp }))!
      const foreign = nodes[4]!
      const caller = { id: 'foreign', entityId: foreign.id! }
      const page = await run.gateway.query.search({ ...frame, cursor: nextCursor } as never, {
        caller,
      })
      const own = new Set(
        known.filter(({ channel }) => foreign.channels.includes(channel)).map(({ id }) => id),
      )
      assert.ok(page.records.length > 0)
      for (const { id } of page.records) assert.ok(own.has(id))
    })
  })
})
