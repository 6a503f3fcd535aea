/** What docs/scale.md counts in the tables, when it says why a database that shards them does not fit. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGateway } from '../../rig/gateway.ts'
import { root } from '../../rig/sources.ts'

/** Columns by which a row could be kept beside its merchant. */
const owner = "('merchant_id', 'entity_id', 'channel_id')"

const counts = `
with tables as (
  select pg_class.oid from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = 'tollgate' and relkind in ('r', 'p') and not relispartition),
owners as (
  select attrelid, attnum, attname from pg_attribute
  where attrelid in (select oid from tables) and attname in ${owner} and not attisdropped),
keys as (
  select indrelid, indkey from pg_index where indrelid in (select oid from tables) and indisunique)
select
  (select count(*) from tables)::integer as tables,
  (select count(*) from tables where oid not in (select attrelid from owners))::integer as without_owner,
  (select count(*) from owners where attname = 'merchant_id')::integer as with_merchant,
  (select count(*) from keys)::integer as keys,
  (select count(*) from keys where not exists (
    select from owners where attrelid = indrelid and attnum = any(indkey)))::integer as keys_without_owner,
  (select count(*) from pg_trigger where tgrelid in (select oid from tables) and not tgisinternal)::integer as triggers,
  (select count(*) from pg_attribute
    where attrelid in (select oid from tables) and atttypid = 'xid8'::regtype)::integer as transaction_numbers`

test('the page about scale counts what the tables have', async () => {
  const run = await startGateway({ role: 'api' })
  try {
    const [found] = await run.sql<Record<string, number>>(counts)
    const page = readFileSync(join(root, 'docs/scale.md'), 'utf8')
    const rows = [...page.matchAll(/^\| (\d+)(?: of (\d+))? \|/gm)].map(([, few, all]) =>
      [few, all].flatMap((text) => (text === undefined ? [] : [Number(text)])),
    )
    const { tables, without_owner, with_merchant, keys, keys_without_owner } = found!
    assert.deepEqual(rows, [
      [without_owner, tables],
      [with_merchant, tables],
      [keys_without_owner, keys],
      [found!.triggers],
      [found!.transaction_numbers],
    ])
  } finally {
    await run.close()
  }
})
