/**
 * A search for less common types and brands finds what a look at everything finds, in the same order, for one
 * channel and for hundreds, from the indexes made for it.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import type { Sql } from '../../../core/db/sql.ts'
import { GatewayError, newId, type QueryView } from '../../../core/index.ts'
import type { Criteria } from '../../../core/query/criteria.ts'
import type { Scope } from '../../../core/query/scope.ts'
import { newestFirst } from '../../../core/query/sort-key.ts'
import { countIn, newestIn } from '../../../core/query/store.ts'
import { placeBefore, stretchOf } from '../../../core/query/time-window.ts'
import {
  commonBrands,
  commonTypes,
  recordedTypes,
  uncommonKindsOf,
} from '../../../core/query/uncommon-kinds.ts'
import { brandOf, paymentTypeOf } from '../../../schemas/index.ts'
import { explainGeneric } from '../../rig/explain.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { inScope } from '../../rig/scope.ts'
import {
  brandsStored,
  type Draft,
  type Known,
  methodOf,
  recordTypesStored,
  store,
} from './stock.ts'

const now = Date.now()
const dayMs = 86_400_000
/** So many that the entries of all channels are read. */
const crowd = 220
const moment = fc.oneof(
  fc.integer({ min: now - 3000 * dayMs, max: now - dayMs }),
  // Very many of one millisecond, so that whatever ends somewhere ends among equals.
  fc.constantFrom(now - 20 * dayMs, now - 300 * dayMs, now - 900 * dayMs),
)

/** Most of it is that of a few channels; the others are many and have little. */
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

describe('searches for less common kinds', () => {
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
    const drafts = fc.sample(draft, { numRuns: 3_000, seed: 11 })
    known = await withTimedRecords(await store(run, [...many, ...big], drafts))
    known.sort((one, other) => newestFirst(one, other))
    await run.sql('vacuum (analyze) tollgate.payment')
  })
  after(() => run.close())

  /** The ids of records made as the engine makes them, so that they stand among payments of their millisecond. */
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

  test('find what a look at everything finds, page by page', async () => {
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
        // The samples of the stock are of this minute, and are not known.
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
      { numRuns: inScope(6, 15) },
    )
  })

  describe('use the indexes of uncommon kinds', () => {
    const indexes = [
      'payment_channel_type',
      'payment_type',
      'payment_brand',
      'payment_channel_brand',
    ] as const

    test('which leave out the common kinds, as the code does', async () => {
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
    const scopeOf = (criteria: Partial<Criteria>, channelCount: number): Scope => ({
      channels: `{${[...nodes[0]!.channels].sort().join()}}`,
      channelCount,
      criteria: { ...none, ...criteria },
      hasClocks: false,
    })
    const cases: readonly [Partial<Criteria>, 'type' | 'brand'][] = [
      [{ types: ['CB', 'RF'] }, 'type'],
      [{ types: ['CB', 'RR'] }, 'type'],
      [{ types: ['CB'], brands: ['DIRECTDEBIT_SEPA'] }, 'type'],
      [{ types: ['CB'], brands: ['VISA', 'JCB'] }, 'type'],
      [{ brands: ['DIRECTDEBIT_SEPA'] }, 'brand'],
      [{ types: ['DB'], brands: ['MAESTRO'] }, 'brand'],
      [{ types: ['CP', 'RF'], brands: ['MAESTRO'] }, 'brand'],
    ]
    for (const [criteria, by] of cases) {
      test(`for ${JSON.stringify(criteria)}: those by ${by}`, async () => {
        const one = scopeOf(criteria, 1)
        const many = scopeOf(criteria, 10_000)
        for (const statement of [newestIn, countIn]) {
          const indexes = (scope: Scope) => indexesOf(statement(scope, stretch, 100))
          assert.deepEqual(await indexes(one), [`payment_channel_${by}`])
          assert.deepEqual(await indexes(many), [`payment_${by}`])
          assert.deepEqual(await indexes({ ...one, channels: null }), [`payment_${by}`])
        }
      })
    }

    test('and that of each channel for a mix with common ones', async () => {
      for (const criteria of [{ types: ['CB', 'DB'] }, { brands: ['MAESTRO', 'VISA'] }]) {
        const scope = scopeOf(criteria, 1)
        assert.equal(uncommonKindsOf(scope.criteria), null)
        assert.deepEqual(await indexesOf(newestIn(scope, stretch, 100)), ['payment_channel'])
      }
      assert.equal(uncommonKindsOf({ ...none, types: ['RR', 'TE'] }), null)
    })

    /** Indexes of payments that a statement's plan has when it is made for all values. */
    async function indexesOf(statement: Sql): Promise<string[]> {
      const client = new pg.Client({ connectionString: run.database.url })
      await client.connect()
      try {
        // In a month of a few pages to read it from end to end is as good.
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
