/**
 * Chargebacks from before they were facts: rows of an older version are read correctly after the
 * migration.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { createGateway, localKeys } from '../../../core/index.ts'
import { migrationFiles } from '../../../core/migrate.ts'
import { createDatabase } from '../../rig/database.ts'
import { freshSimulator, testKey } from '../../rig/gateway.ts'

const idOf = (no: number) => `01900000-0000-7000-8000-${String(no).padStart(12, '0')}`
const channel = idOf(1)
const account = idOf(2)

describe('the migration to facts', () => {
  test('a chargeback counts for its part that was not reversed, and has no reference', async () => {
    const database = await createDatabase()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await migrateTo(client, '0016')
      const sales = [
        { no: 100, charged: 9200, reversed: [] },
        { no: 200, charged: 9200, reversed: [3000] },
        { no: 300, charged: 5000, reversed: [5000] },
        { no: 400, charged: 5000, reversed: [3000, 3000] },
      ]
      for (const sale of sales) await addSale(client, sale)
      const gateway = await createGateway({
        database: { url: database.url },
        plugins: [freshSimulator()],
        environment: 'test',
        keys: localKeys(testKey),
        role: 'api',
      })
      await gateway.close()
      const { rows: facts } = await client.query(
        `select kind, account, is_named, source, payment_id, balance_id, counted::integer as counted,
           reversed::integer as reversed
         from tollgate.chargeback order by at, record_id`,
      )
      assert.deepEqual(
        facts,
        [9200, 9200, 5000, 5000].map((counted, at) => ({
          kind: 'chargeback',
          account: account.replaceAll('-', ''),
          is_named: false,
          source: null,
          payment_id: idOf(sales[at]!.no),
          balance_id: idOf(sales[at]!.no),
          counted,
          reversed: [0, 3000, 5000, 5000][at],
        })),
      )
      const { rows: sums } = await client.query(
        'select charged_back::integer as minor from tollgate.payment_balance order by payment_id',
      )
      assert.deepEqual(sums, [{ minor: 9200 }, { minor: 6200 }, { minor: 0 }, { minor: 0 }])
    } finally {
      await client.end()
      await database.drop()
    }
  })
})

describe('the migration of rounds', () => {
  test('a round gets a name that no reference can have; a reference that resembles one stays', async () => {
    const database = await createDatabase()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await migrateTo(client, '0020')
      const facts = [
        ['chargeback', 'case-1', 1, null],
        ['chargeback', 'case-1 round 2', 1, null],
        ['reversal', 'case-1', 1, 'case-1'],
        ['reversal', 'case-1 round 2', 1, 'case-1 round 2'],
        ['chargeback', 'case-2', 1, null],
        ['chargeback', 'case-2 round 2', 2, null],
      ] as const
      for (const [at, [kind, reference, payment, reverses]] of facts.entries()) {
        await client.query(
          `insert into tollgate.chargeback (connector, account, kind, reference, record_id, payment_id, minor,
             currency, counted, reverses)
           values ('scripted', 'internal', $1, $2, $3, $4, 100, 'EUR', 100, $5)`,
          [kind, reference, idOf(10 + at), idOf(payment), reverses],
        )
      }
      const files = await migrationFiles()
      await client.query(files.find(({ name }) => name.startsWith('0021'))!.text)
      const { rows } = await client.query(
        'select reference, reverses from tollgate.chargeback order by record_id',
      )
      assert.deepEqual(
        rows.map(({ reference, reverses }) => [reference, reverses]),
        [
          ['case-1', null],
          ['case-1\nround 2', null],
          ['case-1', 'case-1'],
          ['case-1\nround 2', 'case-1\nround 2'],
          ['case-2', null],
          ['case-2 round 2', null],
        ],
      )
    } finally {
      await client.end()
      await database.drop()
    }
  })
})

describe('the migration of disputes', () => {
  test('facts without a reference get a name that no reference can have, and outside the sums the oldest is given back', async () => {
    const database = await createDatabase()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await migrateTo(client, '0049')
      const sums = idOf(1)
      const facts = [
        // kind, reference, named, payment, balance, minor, counted, reversed, reverses
        ['chargeback', 'case-1', true, 1, sums, 100, 100, 40, null],
        ['chargeback', 'event-1', false, 1, sums, 100, 100, 100, null],
        ['reversal', 'event-1\nby hand after 0', true, 1, sums, 100, 100, 0, 'event-1'],
        ['chargeback', 'event-2', false, 2, null, 100, 0, 0, null],
        ['chargeback', 'event-3', false, 2, null, 100, 0, 0, null],
        ['chargeback', 'case-4', true, 2, null, 100, 0, 0, null],
        ['reversal', 'case-4', true, 2, null, 900, 0, 0, 'case-4'],
        ['reversal', 'event-5', false, 2, null, 130, 0, 0, null],
      ] as const
      for (const [at, fact] of facts.entries()) {
        const [kind, reference, isNamed, payment, balance, ...rest] = fact
        await client.query(
          `insert into tollgate.chargeback (connector, account, record_id, currency, at, kind, reference, is_named,
             payment_id, balance_id, minor, counted, reversed, reverses)
           values ('scripted', 'internal', $1, 'EUR', now() + $2 * interval '1 second', $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
          [idOf(10 + at), at, kind, reference, isNamed, idOf(payment), balance, ...rest],
        )
      }
      const files = await migrationFiles()
      await client.query(files.find(({ name }) => name.startsWith('0050'))!.text)
      const { rows } = await client.query(
        'select reference, reverses, given_back::integer as back from tollgate.chargeback order by record_id',
      )
      assert.deepEqual(
        rows.map(({ reference, reverses, back }) => [reference, reverses, back]),
        [
          ['case-1', null, 40],
          ['event-1\nunnamed', null, 100],
          ['event-1\nunnamed\nby hand after 0', 'event-1\nunnamed', 0],
          ['event-2\nunnamed', null, 100],
          ['event-3\nunnamed', null, 30],
          ['case-4', null, 100],
          ['case-4', 'case-4', 0],
          ['event-5\nunnamed', null, 0],
        ],
      )
    } finally {
      await client.end()
      await database.drop()
    }
  })
})

/** Runs the files up to this one, as an older version did. */
async function migrateTo(client: pg.Client, last: string): Promise<void> {
  await client.query('create schema tollgate')
  await client.query(
    `create table tollgate.migration
       (name text primary key, checksum text not null, at timestamptz not null default now())`,
  )
  for (const { name, text, checksum } of await migrationFiles()) {
    if (name.slice(0, last.length) > last) continue
    await client.query('begin')
    await client.query(text)
    await client.query('insert into tollgate.migration (name, checksum) values ($1, $2)', [
      name,
      checksum,
    ])
    await client.query('commit')
  }
}

type Sale = {
  readonly no: number
  readonly charged: number
  readonly reversed: readonly number[]
}

/**
 * A sale of 92.00 with its chargeback, as an older version left it: any reversal removed the mark.
 */
async function addSale(client: pg.Client, { no, charged, reversed }: Sale): Promise<void> {
  await addPayment(client, { no, minor: 9200, type: 'DB', effect: 'sale' })
  await addPayment(client, {
    no: no + 1,
    minor: charged,
    type: 'CB',
    effect: 'chargeback',
    of: no,
    parent: no,
  })
  for (const [at, minor] of reversed.entries()) {
    const effect = 'chargeback-reversal'
    await addPayment(client, {
      no: no + 2 + at,
      minor,
      type: 'CR',
      effect,
      of: no + 1,
      parent: no,
    })
  }
  await client.query(
    `insert into tollgate.payment_balance (payment_id, kind, captured, charged_back_by)
     values ($1, 'sale', 9200, $2)`,
    [idOf(no), reversed.length === 0 ? idOf(no + 1) : null],
  )
}

type Row = {
  readonly no: number
  readonly minor: number
  readonly type: string
  readonly effect: string
  readonly of?: number
  readonly parent?: number
}

const addPayment = (client: pg.Client, { no, minor, type, effect, of, parent }: Row) =>
  client.query(
    `insert into tollgate.payment (id, channel_id, entity_id, root_id, parent_id, referenced_id, account_id,
       short_no, amount_minor, created_at, currency, payment_type, effect, mode, connector, attempt_key, state,
       result_code)
     values ($1::uuid, $2, $2, $3, $4, $5, $6, $7::integer, $8, timestamptz '2026-01-01' + $7::integer * interval '1 second', 'EUR', $9, $10,
       'EXTERNAL', 'scripted', $1::uuid::text, 'approved', '000.100.112')`,
    [
      idOf(no),
      channel,
      idOf(parent ?? no),
      parent === undefined ? null : idOf(parent),
      of === undefined ? null : idOf(of),
      account,
      no,
      minor,
      type,
      effect,
    ],
  )
