/** Idempotency-Keys stored in clear by an older version: still found, and no longer readable. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { onFaultPoint } from '../../../core/fault-point.ts'
import { createGateway, localKeys, migrationFiles } from '../../../core/index.ts'
import { createDatabase } from '../../rig/database.ts'
import {
  card,
  flat,
  freshSimulator,
  startGateway,
  type TestGateway,
  testKey,
} from '../../rig/gateway.ts'
import { leavesOf } from '../../rig/leaves.ts'

const pan = '4111111111111111'

/** Restores the old rows: the key in clear, in the table that the migration keeps. */
async function asBefore(run: TestGateway, keys: ReadonlyMap<string, string>): Promise<void> {
  await run.sql(`
    create table tollgate.idempotency_plain (
      entity_id uuid not null, key text not null, fingerprint bytea not null, payment_id uuid not null,
      created_at timestamptz not null default now(), primary key (entity_id, key))`)
  for (const [key, paymentId] of keys) {
    await run.sql(
      `with gone as (delete from tollgate.idempotency where payment_id = $2 returning *)
       insert into tollgate.idempotency_plain
       select entity_id, $1, fingerprint, payment_id, created_at from gone`,
      [key, paymentId],
    )
  }
  const [left] = await run.sql<{ rows: bigint }>(
    'select count(*) as rows from tollgate.idempotency',
  )
  assert.equal(left!.rows, 0n)
}

async function withPayments(
  body: (run: TestGateway, keys: ReadonlyMap<string, string>) => Promise<void>,
): Promise<void> {
  const run = await startGateway()
  try {
    const keys = new Map<string, string>()
    for (const key of [pan, `order-${pan}`, '4111-1111-1111-1111', 'plain-1', 'plain-2']) {
      keys.set(key, (await run.pay({}, { key })).id)
    }
    await run.gateway.close()
    await asBefore(run, keys)
    await body(run, keys)
  } finally {
    onFaultPoint(undefined)
    await run.close()
  }
}

describe('idempotency keys from before their digests', () => {
  test('a repeat across the upgrade is the same payment, and no stored key stays readable', async () => {
    await withPayments(async (run, keys) => {
      const later = await run.another()
      for (const [key, id] of keys) {
        const repeat = await run.send(
          { ...flat(card('4200000000000000')), entityId: run.channel },
          { idempotencyKey: key, on: later },
        )
        assert.equal(repeat.body.id, id, 'the same payment')
        assert.equal(repeat.headers['Idempotent-Replayed'], 'true')
        await assert.rejects(run.pay({ amount: '93.00' }, { key, on: later }), {
          code: '200.300.405',
        })
      }
      const [old] = await run.sql<{ name: string | null }>(
        "select to_regclass('tollgate.idempotency_plain')::text as name",
      )
      assert.equal(old!.name, null)
      const readable = (await leavesOf(run)).filter(
        ({ text }) => text.includes(pan) || text.includes(Buffer.from(pan).toString('hex')),
      )
      assert.deepEqual(readable, [])
    })
  })

  test('a process that dies during the upgrade leaves its work to the next, and two take turns', async () => {
    await withPayments(async (run, keys) => {
      onFaultPoint((point) => {
        if (point === 'idempotency-digested') throw new Error('the process dies')
      })
      await assert.rejects(run.another(), /the process dies/)
      onFaultPoint(undefined)
      const [one, other] = await Promise.all([run.another(), run.another()])
      for (const [key, id] of keys) {
        assert.equal((await run.pay({}, { key, on: one })).id, id)
        assert.equal((await run.pay({}, { key, on: other })).id, id)
      }
    })
  })

  test('the migration leaves no readable key in the current table', async () => {
    const database = await createDatabase()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      await client.query(`create schema tollgate; create table tollgate.migration
        (name text primary key, checksum text not null, at timestamptz not null default now())`)
      for (const { name, text, checksum } of await migrationFiles()) {
        if (name >= '0023') break
        await client.query(text)
        await client.query('insert into tollgate.migration (name, checksum) values ($1, $2)', [
          name,
          checksum,
        ])
      }
      const id = '0190000000007000800000000000000a'
      await client.query(
        `insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id)
         values ($1, $2, '\\x00', $1)`,
        [id, pan],
      )
      const gateway = await createGateway({
        database: { url: database.url },
        plugins: [freshSimulator()],
        environment: 'test',
        keys: localKeys(testKey),
        role: 'api',
      })
      await gateway.close()
      const { rows } = await client.query(
        `select octet_length(key) as bytes, payment_id, to_regclass('tollgate.idempotency_plain') as old
         from tollgate.idempotency`,
      )
      assert.deepEqual(
        rows.map(({ bytes, payment_id, old }) => [bytes, payment_id.replaceAll('-', ''), old]),
        [[32, id, null]],
      )
    } finally {
      await client.end()
      await database.drop()
    }
  })

  test('expired rows are not migrated', async () => {
    await withPayments(async (run, keys) => {
      await run.sql(
        "update tollgate.idempotency_plain set created_at = now() - interval '31 days' where key = 'plain-1'",
      )
      await run.another()
      const rows = await run.sql('select payment_id from tollgate.idempotency')
      assert.equal(rows.length, keys.size - 1)
    })
  })
})
