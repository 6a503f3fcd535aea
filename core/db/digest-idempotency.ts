/**
 * Converts Idempotency-Keys that an older version stored in clear into digests. Migrations have no keys, so
 * the engine does this at its start, before the first request. Repeats across the upgrade are recognised.
 *
 * Safe to run twice and in several processes: they take turns, existing rows stay, and the old table is
 * dropped after all of its rows are converted.
 */
import { limits } from '@tollgate/schemas'
import type pg from 'pg'
import { faultPoint } from '../fault-point.ts'
import { lowestId } from '../ids.ts'
import { type Client, type Database, patience } from './database.ts'
import { sql } from './sql.ts'

type PlainRow = {
  entity_id: string
  key: string
  fingerprint: Buffer
  payment_id: string
  created_at: Date
}

/** One lock for all processes that do this on one database; the number is arbitrary but fixed. */
const lockNumber = 7_042_023
const batch = 2_000

/**
 * Empty without the table. Asks the catalogue itself: within a transaction, to_regclass can name a table that
 * another process dropped. A user that is no member of the owner cannot drop it.
 */
const plainTable = sql<{ may_drop: boolean }>`
  select pg_has_role(current_user, tableowner, 'usage') as may_drop
  from pg_tables
  where concat(schemaname, '.', tablename) = 'tollgate.idempotency_plain'`

/** Rows in the order of the primary key, without expired ones. */
const plainAfter = (entityId: string, key: string, days: number) => sql<PlainRow>`
  select entity_id, key, fingerprint, payment_id, created_at
  from tollgate.idempotency_plain
  where (entity_id, key) > (${entityId}::uuid, ${key}::text)
    and created_at >= now() - ${days}::integer * interval '1 day'
  order by entity_id, key
  limit ${batch}::integer`

const addDigests = (rows: readonly (Omit<PlainRow, 'key'> & { digest: Buffer })[]) => sql`
  insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id, created_at)
  select entity_id, key, fingerprint, payment_id, created_at
  from unnest(
    ${rows.map((row) => row.entity_id)}::uuid[], ${rows.map((row) => row.digest)}::bytea[],
    ${rows.map((row) => row.fingerprint)}::bytea[], ${rows.map((row) => row.payment_id)}::uuid[],
    ${rows.map((row) => row.created_at)}::timestamptz[])
    as plain (entity_id, key, fingerprint, payment_id, created_at)
  on conflict do nothing`

const dropPlain = sql`drop table if exists tollgate.idempotency_plain`
const emptyPlain = sql`delete from tollgate.idempotency_plain`

/** @param digest The digest of an entity's key. @returns the number of converted rows. */
export async function digestIdempotencyKeys(
  database: Database,
  pool: pg.Pool,
  digest: (entityId: string, key: string) => Buffer,
): Promise<number> {
  const [table] = await database.run(pool, plainTable)
  if (table === undefined) return 0
  let taken = 0
  let last = { entity_id: lowestId, key: '' }
  for (;;) {
    const rows = await inTurn(database, pool, async (client) => {
      const after = plainAfter(last.entity_id, last.key, limits.idempotencyDays)
      const plain = await database.query(client, after)
      const digested = plain.map((row) => ({ ...row, digest: digest(row.entity_id, row.key) }))
      if (plain.length > 0) await database.query(client, addDigests(digested))
      return plain
    })
    if (rows === undefined || rows.length === 0) break
    await faultPoint('idempotency-digested', String(taken))
    taken += rows.length
    last = rows.at(-1)!
  }
  // A user that may not drop tables leaves an empty one behind, and asks for nothing that the server refuses.
  await inTurn(database, pool, (client) =>
    database.query(client, table.may_drop ? dropPlain : emptyPlain),
  )
  return taken
}

/**
 * One step, in the turn of this process. The lock belongs to the transaction: behind a pooler, a connection has
 * no session that could hold it for longer.
 */
const inTurn = <T>(
  database: Database,
  pool: pg.Pool,
  work: (client: Client) => Promise<T>,
): Promise<T | undefined> =>
  database.transaction(
    pool,
    async (client) => {
      await client.query('set local statement_timeout = 0; set local lock_timeout = 0')
      await client.query('select pg_advisory_xact_lock($1)', [lockNumber])
      const [table] = await database.query(client, plainTable)
      return table === undefined ? undefined : work(client)
    },
    patience(limits.upkeepMs),
  )
