/**
 * Searches for rare types and brands, in one channel and in many: the same rows as a full scan, in
 * the same order, from their own indexes.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import type { Sql } from '../../../core/db/sql.ts'
import { GatewayError, newId, type QueryView } from '../../../core/index.ts'
import type { Criteria } from '../../../core/query/criteria.ts'
import { count, newest } from '../../../core/query/page-scan.ts'
import { commonBrands, commonTypes, rareOf, recordedTypes } from '../../../core/query/rare.ts'
import type { Scope } from '../../../core/query/scope.ts'
import { newestFirst, type Place } from '../../../core/query/sort-key.ts'
import { countIn, countOfAll, newestIn, newestOfAll } from '../../../core/query/store.ts'
import { placeBefore, stretchOf } from '../../../core/query/time-window.ts'
import { brandOf, paymentTypeOf } from '../../../schemas/index.ts'
import { explainGeneric } from '../../rig/explain.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import {
  brandsStored,
  type Draft,
  type Known,
  methodOf,
  recordTypesStored,
  store,
} from './stock.ts'
import { type Watched, watch } from './watched.ts'

const now = Date.now()
const dayMs = 86_400_000
const crowd = 60
const moment = fc.oneof(
  fc.integer({ min: now - 3000 * dayMs, max: now - dayMs }),
  // Many of one millisecond, so that pages end among equals.
  fc.constantFrom(now - 20 * dayMs, now - 300 * dayMs, now - 900 * dayMs),
)

/** A few channels have most of it; the many others have little. */
const draft: fc.Arbitrary<Draft> = fc
  .record({
    kind: fc.constantFrom<Draft['kind'][]>(...Array(12).fill('payment'), 'record'),
    atMs: moment,
    clock: fc.nat(20),
    channel: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: crowd, max: crowd + 2 }) },
      { weight: 1, arbitrary: fc.nat(crowd - 1) },
    ),
    brand: fc.constantFrom('DIRECTDEBIT_SEPA', ...brandsStored),
    payment: fc.constantFrom(...Array(10).fill('RF'), 'CB', 'RV', 'CP', 'DB', 'PA'),
    record: fc.constantFrom(...recordTypesStored),
  })
  .map(({ payment, record, clock, ...rest }) => ({
    ...rest,
    type: rest.kind === 'payment' ? payment : record,
    clock: rest.kind === 'payment' && clock === 0,
    merchantTransactionId: null,
  }))

const asked = fc.record({
  node: fc.nat(4),
  from: fc.oneof(fc.constant(0), fc.constant(now - 1800 * dayMs), moment),
  to: fc.oneof(fc.constant(now), moment),
  types: fc.option(
    fc.oneof(
      fc.constant<string[]>(['RF']),
      fc.uniqueArray(fc.constantFrom('RF', 'CB', 'CR', 'CP', 'DB', ...recordTypesStored), {
        minLength: 1,
        maxLength: 4,
      }),
    ),
  ),
  methods: fc.option(
    fc.oneof(
      fc.constant<string[]>(['DD']),
      fc.uniqueArray(fc.constantFrom<string[]>('CC', 'DD', 'DC', 'VA', 'CT'), {
        minLength: 1,
        maxLength: 3,
      }),
    ),
  ),
  limit: fc.integer({ min: 200, max: 500 }),
})

const wire = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
const second = (ms: number) => Math.floor(ms / 1000) * 1000
const none: Criteria = {
  types: null,
  brands: null,
  merchantTransactionId: null,
  shortNo: null,
  fromMs: null,
  toMs: null,
}

describe('searches for rare types and brands', () => {
  let run: TestGateway
  let known: Known[]
  let nodes: { readonly id: string | undefined; readonly channels: readonly string[] }[]

  before(async () => {
    run = await startGateway()
    const { entities } = run.gateway
    const under = (parentId: string) => entities.create({ kind: 'channel', name: 'One', parentId })
    const many: string[] = []
    for (let no = 0; no < crowd; no += 1) many.push(await under(run.merchant))
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const big = [await under(merchant), await under(merchant), await under(merchant)]
    nodes = [
      { id: run.merchant, channels: many },
      { id: run.psp, channels: [...many, ...big] },
      { id: undefined, channels: [...many, ...big] },
      { id: merchant, channels: big },
      { id: big[0]!, channels: big.slice(0, 1) },
    ]
    await run.sql("select tollgate.create_partitions(now() - interval '40 months', 40)")
    const drafts = fc.sample(draft, { numRuns: 16_000, seed: 11 })
    known = await withTimedRecords(await store(run, [...many, ...big], drafts))
    known.sort((one, other) => newestFirst(one, other))
    await run.sql('vacuum (analyze) tollgate.payment')
  })
  after(() => run.close())

  /** Record ids as the engine makes them, so that they sort among payments of their millisecond. */
  async function withTimedRecords(stored: readonly Known[]): Promise<Known[]> {
    const made = stored.map((one) =>
      one.kind === 'record' ? { ...one, id: newId(one.atMs) } : one,
    )
    await run.sql(
      'update tollgate.record r set id = n.made from unnest($1::uuid[], $2::uuid[]) as n(id, made) where r.id = n.id',
      [stored.map(({ id }) => id), made.map(({ id }) => id)],
    )
    return made
  }

  async function search(request: object): Promise<QueryView | undefined> {
    try {
      return await run.gateway.query.search(request as never)
    } catch (error) {
      if (error instanceof GatewayError && error.code === '700.400.580') return undefined
      throw error
    }
  }

  test('a search finds the same as a full scan, page by page', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ node, types, methods, limit, ...frame }) => {
        const { id, channels } = nodes[node]!
        const [from, to] = [Math.min(frame.from, frame.to), Math.max(frame.from, frame.to)]
        const request = {
          ...(id === undefined ? {} : { entityId: id }),
          date: { from: wire(from), to: wire(to) },
          ...(types === null ? {} : { paymentTypes: types.join() }),
          ...(methods === null ? {} : { paymentMethods: methods.join() }),
          limit: String(limit),
        }
        const own = new Set(channels)
        const expected = known
          .filter(({ channel }) => own.has(channel))
          .filter(({ atMs }) => atMs >= second(from) && atMs < second(to) + 1000)
          .filter(({ type }) => types?.includes(type) ?? true)
          .filter(({ brand }) => methods?.includes(methodOf(brand) ?? '') ?? true)
        const first = await search(request)
        const pages = Math.min(100, Math.ceil(expected.length / limit))
        // The samples of the stock are from this minute and not in the list.
        if (to < now) assert.equal(first?.pages ?? 0, pages)
        const found: string[] = []
        const stored = new Set(known.map((one) => one.id))
        for (let page = first; page !== undefined; ) {
          found.push(...page.records.map((record) => record.id))
          if (page.nextCursor === undefined) break
          page = await search({ ...request, cursor: page.nextCursor })
        }
        assert.equal(new Set(found).size, found.length)
        assert.deepEqual(
          found.filter((one) => stored.has(one)),
          expected.map((one) => one.id),
        )
      }),
      { numRuns: 60 },
    )
  })

  describe('statements of a search', () => {
    let watched: Watched
    before(() => {
      watched = watch(run.database.url)
    })
    after(() => watched.close())
    /** Whether each statement reads all channels. */
    const areOfEverybody = () =>
      watched.statements.map(({ strings }) => strings.join('').includes('row_number()'))

    const scopeOf = (channels: readonly string[], criteria: Partial<Criteria>): Scope => ({
      channels: `{${[...channels].sort().join()}}`,
      channelCount: channels.length,
      criteria: { ...none, ...criteria },
      hasClocks: false,
    })
    async function read(scope: Scope, wanted: number, after: Place | null = null) {
      watched.statements.length = 0
      const { found } = await newest(watched.engine, { scope, after, wanted, spanMs: undefined })
      return found.map(({ id }) => id)
    }
    const expected = (channels: readonly string[], type: string, fromMs: number) =>
      known
        .filter((one) => channels.includes(one.channel) && one.type === type)
        .filter(({ atMs }) => atMs >= fromMs)
    /** Without payments on clocks, which these scopes exclude. */
    const inReal = async (some: readonly Known[]) => {
      const rows = await run.sql<{ id: string }>(
        'select id from tollgate.payment where clock_id is null',
      )
      const real = new Set(rows.map(({ id }) => id))
      return some.filter(({ id }) => real.has(id)).map(({ id }) => id)
    }

    test('many channels and a rare type are read for all channels in one statement', async () => {
      const { channels } = nodes[0]!
      const scope = scopeOf(channels, { types: ['CB'], fromMs: 0 })
      const all = await inReal(expected(channels, 'CB', 0))
      assert.deepEqual(await read(scope, 5000), all)
      assert.deepEqual(areOfEverybody(), [true])
      watched.statements.length = 0
      assert.equal(await count(watched.engine, scope, 40_000), all.length)
      assert.deepEqual(areOfEverybody(), [true])
    })

    test('many channels and a type frequent elsewhere are read by channel from that point on', async () => {
      const { channels } = nodes[0]!
      const fromMs = now - 1300 * dayMs
      const scope = scopeOf(channels, { types: ['RF'], fromMs })
      const all = await inReal(expected(channels, 'RF', fromMs))
      assert.deepEqual(await read(scope, 5000), all)
      const [first, ...others] = areOfEverybody()
      assert.equal(first, true)
      assert.equal(others.at(-1), false)
      assert.equal(await count(watched.engine, scope, 40_000), all.length)
    })

    test('several types are read together, with records and payments on test clocks', async () => {
      const { channels } = nodes[0]!
      const types = ['CB', 'CP', 'RF', 'RR', 'TE']
      const scope = { ...scopeOf(channels, { types, fromMs: 0 }), hasClocks: true }
      const own = known.filter(
        ({ channel, type }) => channels.includes(channel) && types.includes(type),
      )
      const ids = own.map(({ id }) => id)
      for (const start of [0, 300, 700]) {
        for (const wanted of [1, 120, 450, 1000, 5000]) {
          const after = start === 0 ? null : own[start - 1]!
          assert.deepEqual(await read(scope, wanted, after), ids.slice(start, start + wanted))
        }
      }
      assert.equal(await count(watched.engine, scope, 40_000), ids.length)
    })

    test('a single channel is read by itself, for the whole time at once', async () => {
      const { channels } = nodes[4]!
      const scope = scopeOf(channels, { types: ['CB'], fromMs: now - 3650 * dayMs, toMs: now })
      assert.deepEqual(await read(scope, 5000), await inReal(expected(channels, 'CB', 0)))
      assert.deepEqual(areOfEverybody(), [false])
    })
  })

  describe('indexes of rare types and brands', () => {
    const indexes = [
      'payment_channel_type',
      'payment_type',
      'payment_brand',
      'payment_channel_brand',
    ] as const

    test('the indexes leave out the common types and brands that the code names', async () => {
      const rows = await run.sql<{ name: string; predicate: string }>(
        `select c.relname as name, pg_get_expr(i.indpred, i.indrelid) as predicate
         from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indrelid = 'tollgate.payment'::regclass`,
      )
      for (const name of indexes) {
        const predicate = rows.find((row) => row.name === name)!.predicate
        const codes = [...predicate.matchAll(/'(\w+)'/g)].map(([, code]) => code)
        assert.deepEqual(codes, name.includes('type') ? commonTypes : commonBrands, name)
      }
      for (const brand of commonBrands) assert.equal(brandOf(brand)?.code, brand)
      for (const type of [...commonTypes, ...recordedTypes]) assert.ok(paymentTypeOf(type))
    })

    const stretch = stretchOf(now - 1000 * dayMs, placeBefore(now))
    const cases: readonly [Partial<Criteria>, own: string, all: string][] = [
      [{ types: ['CB', 'RF'] }, 'payment_channel_type', 'payment_type'],
      [{ types: ['CB', 'RR'] }, 'payment_channel_type', 'payment_type'],
      [{ types: ['CB'], brands: ['DIRECTDEBIT_SEPA'] }, 'payment_channel_type', 'payment_type'],
      [{ types: ['CB'], brands: ['VISA', 'JCB'] }, 'payment_channel_type', 'payment_type'],
      [{ brands: ['DIRECTDEBIT_SEPA'] }, 'payment_channel_brand', 'payment_brand'],
      [{ types: ['DB'], brands: ['MAESTRO'] }, 'payment_channel_brand', 'payment_brand'],
      [{ types: ['CP', 'RF'], brands: ['MAESTRO'] }, 'payment_channel_brand', 'payment_brand'],
    ]
    for (const [criteria, own, all] of cases) {
      test(`a search for ${JSON.stringify(criteria)} uses ${own} and ${all}`, async () => {
        const scope = (channels: string | null): Scope => ({
          channels,
          channelCount: 1,
          criteria: { ...none, ...criteria },
          hasClocks: false,
        })
        const one = scope(`{${nodes[4]!.channels.join()}}`)
        const rare = rareOf(one.criteria)!
        assert.deepEqual(await indexesOf(newestIn(one, stretch, 100)), [own])
        assert.deepEqual(await indexesOf(countIn(one, stretch, 100)), [own])
        assert.deepEqual(await indexesOf(newestIn(scope(null), stretch, 100)), [all])
        assert.deepEqual(await indexesOf(newestOfAll(one, rare, stretch, 1000, 100)), [all])
        assert.deepEqual(await indexesOf(countOfAll(one, rare, stretch, 1000, 100)), [all])
      })
    }

    test('a search that mixes rare and common values uses the index of the channel', async () => {
      const channels = `{${nodes[4]!.channels.join()}}`
      for (const criteria of [{ types: ['CB', 'DB'] }, { brands: ['MAESTRO', 'VISA'] }]) {
        const scope = { channels, channelCount: 1, criteria: { ...none, ...criteria } }
        assert.equal(rareOf(scope.criteria), null)
        const statement = newestIn({ ...scope, hasClocks: false }, stretch, 100)
        assert.deepEqual(await indexesOf(statement), ['payment_channel'])
      }
      assert.equal(rareOf({ ...none, types: ['RR', 'TE'] }), null)
    })

    /** Payment indexes in a statement's generic plan. */
    async function indexesOf(statement: Sql): Promise<string[]> {
      const client = new pg.Client({ connectionString: run.database.url })
      await client.connect()
      try {
        // On a month of a few pages a scan is equally good.
        await client.query('set enable_seqscan = off')
        const plan = JSON.stringify(await explainGeneric(client, statement))
        const { rows: parents } = await client.query<{ name: string; parent: string }>(
          `select c.relname as name, p.relname as parent from pg_inherits i
           join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
           where p.relname like 'payment%' and p.relkind = 'I'`,
        )
        return [
          ...new Set(
            parents.filter(({ name }) => plan.includes(`"${name}"`)).map(({ parent }) => parent),
          ),
        ]
      } finally {
        await client.end()
      }
    }
  })
})
