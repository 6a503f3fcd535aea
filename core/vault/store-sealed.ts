/**
 * The tables with sealed values. Each has `id`, `data_key_id` and `sealed`, and its name is part of
 * the values' binding. A rotation would skip a missing table, so a test compares this list with the
 * schema.
 */
import { type Sql, sql } from '../db/sql.ts'

export const sealedTables = [
  'instrument',
  'merchant_account',
  'webhook_endpoint',
  'person',
  'checkout_secret',
  'settlement_part',
  'report_destination',
  'server_key',
] as const

/** The purpose of a sealed value: its table. */
export type Purpose = (typeof sealedTables)[number]

export type SealedRow = {
  id: string
  data_key_id: string | null
  sealed: Buffer | null
  /** The owner, for the binding; null when the owning row no longer exists. */
  owner_id: string | null
  registration_id: string | null
}

/** A value sealed again, and its previous form. */
export type Resealed = { readonly id: string; readonly was: Buffer; readonly sealed: Buffer }

/**
 * Reads the next `size` rows by id, and returns those under one of `keys`. Always returns the last row as
 * well, so that the next page can continue after it. No row: the end.
 */
const page = (
  table: Sql,
  owner: Sql,
  after: string,
  keys: readonly string[],
  size: number,
) => sql<SealedRow>`
  with page as materialized (
    select id, data_key_id, sealed
    from ${table}
    where id > ${after}::uuid
    order by id
    limit ${size}::integer)
  select page.id, page.data_key_id, page.sealed, owner.owner_id, owner.registration_id
  from page
  left join lateral (${owner}) owner on true
  where page.data_key_id = any(${keys}::uuid[]) or page.id = (
    select last_row.id from page last_row order by last_row.id desc limit 1)
  order by page.id`

/** An instrument belongs to its payment, also when a registration points at it. */
const ownerOfInstrument = sql`
    select payment.channel_id as owner_id, payment.registration_id
    from tollgate.payment
    where payment.id = page.id
    limit 1`
const ownerOfAccount = sql`
    select merchant_account.channel_id as owner_id, null::uuid as registration_id
    from tollgate.merchant_account
    where merchant_account.id = page.id`
const ownerOfEndpoint = sql`
    select webhook_endpoint.entity_id as owner_id, null::uuid as registration_id
    from tollgate.webhook_endpoint
    where webhook_endpoint.id = page.id`
const ownerOfCheckout = sql`
    select checkout_secret.entity_id as owner_id, null::uuid as registration_id
    from tollgate.checkout_secret
    where checkout_secret.id = page.id`
const ownerOfPart = sql`
    select settlement_part.file_id as owner_id, null::uuid as registration_id
    from tollgate.settlement_part
    where settlement_part.id = page.id`
const ownerOfDestination = sql`
    select report_destination.entity_id as owner_id, null::uuid as registration_id
    from tollgate.report_destination
    where report_destination.id = page.id`
const ownerOfServerKey = sql`select page.id as owner_id, null::uuid as registration_id`
const ownerOfPerson = sql`select page.id as owner_id, null::uuid as registration_id`

/**
 * Replaces only values that are unchanged since the read: erased values stay erased, changed values stay
 * changed. The next pass handles rows that are locked now.
 */
const swap = (table: Sql, from: string, to: string, rows: readonly Resealed[]) => sql<{
  id: string
}>`
  with fresh as (
    select id, was, sealed
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ was }) => was)}::bytea[],
      ${rows.map(({ sealed }) => sealed)}::bytea[]) as fresh (id, was, sealed)),
  held as materialized (
    select sealed_row.id, fresh.sealed
    from ${table} sealed_row
    join fresh on fresh.id = sealed_row.id and fresh.was = sealed_row.sealed
    where sealed_row.id = any(${rows.map(({ id }) => id)}::uuid[]) and sealed_row.data_key_id = ${from}::uuid
    order by sealed_row.id
    for update of sealed_row skip locked)
  update ${table} sealed_row set data_key_id = ${to}::uuid, sealed = held.sealed
  from held
  where sealed_row.id = held.id and sealed_row.id = any(${rows.map(({ id }) => id)}::uuid[])
  returning sealed_row.id`

type PageOf = (after: string, keys: readonly string[], size: number) => Sql<SealedRow>
type SwapOf = (from: string, to: string, rows: readonly Resealed[]) => Sql<{ id: string }>

export const pageOfInstruments: PageOf = (...more) =>
  page(sql`tollgate.instrument`, ownerOfInstrument, ...more)
export const pageOfAccounts: PageOf = (...more) =>
  page(sql`tollgate.merchant_account`, ownerOfAccount, ...more)
export const pageOfEndpoints: PageOf = (...more) =>
  page(sql`tollgate.webhook_endpoint`, ownerOfEndpoint, ...more)
export const swapEndpoints: SwapOf = (...more) => swap(sql`tollgate.webhook_endpoint`, ...more)
export const swapInstruments: SwapOf = (...more) => swap(sql`tollgate.instrument`, ...more)
export const swapAccounts: SwapOf = (...more) => swap(sql`tollgate.merchant_account`, ...more)

export const pageOfPeople: PageOf = (...more) => page(sql`tollgate.person`, ownerOfPerson, ...more)
export const swapPeople: SwapOf = (...more) => swap(sql`tollgate.person`, ...more)

export const pageOfCheckouts: PageOf = (...more) =>
  page(sql`tollgate.checkout_secret`, ownerOfCheckout, ...more)
export const swapCheckouts: SwapOf = (...more) => swap(sql`tollgate.checkout_secret`, ...more)

/** A part has a megabyte, so few are read at once. */
const partsPerPage = 16
export const pageOfParts: PageOf = (after, keys, size) =>
  page(sql`tollgate.settlement_part`, ownerOfPart, after, keys, Math.min(size, partsPerPage))
export const swapParts: SwapOf = (...more) => swap(sql`tollgate.settlement_part`, ...more)

export const pageOfDestinations: PageOf = (...more) =>
  page(sql`tollgate.report_destination`, ownerOfDestination, ...more)
export const swapDestinations: SwapOf = (...more) => swap(sql`tollgate.report_destination`, ...more)

export const pageOfServerKeys: PageOf = (...more) =>
  page(sql`tollgate.server_key`, ownerOfServerKey, ...more)
export const swapServerKeys: SwapOf = (...more) => swap(sql`tollgate.server_key`, ...more)

export const sealedTable: Readonly<Record<Purpose, { page: PageOf; swap: SwapOf }>> = {
  instrument: { page: pageOfInstruments, swap: swapInstruments },
  merchant_account: { page: pageOfAccounts, swap: swapAccounts },
  webhook_endpoint: { page: pageOfEndpoints, swap: swapEndpoints },
  person: { page: pageOfPeople, swap: swapPeople },
  checkout_secret: { page: pageOfCheckouts, swap: swapCheckouts },
  settlement_part: { page: pageOfParts, swap: swapParts },
  report_destination: { page: pageOfDestinations, swap: swapDestinations },
  server_key: { page: pageOfServerKeys, swap: swapServerKeys },
}

/** The user that owns the tables, and whether this one may change them as their owner. */
export const ownerOfTables = sql<{ owner: string; is_owner: boolean }>`
  select pg_get_userbyid(relowner) as owner, pg_has_role(relowner, 'usage') as is_owner
  from pg_class
  where oid = 'tollgate.instrument'::regclass`

/** How many rows each data key seals. Reads every row. */
export const rowsByKey = sql<{ place: Purpose; id: string; rows: bigint }>`
  select 'instrument' as place, data_key_id as id, count(*) as rows
  from tollgate.instrument
  group by data_key_id
  union all
  select 'merchant_account', data_key_id, count(*)
  from tollgate.merchant_account
  where data_key_id is not null
  group by data_key_id
  union all
  select 'webhook_endpoint', data_key_id, count(*)
  from tollgate.webhook_endpoint
  where data_key_id is not null
  group by data_key_id
  union all
  select 'person', data_key_id, count(*)
  from tollgate.person
  group by data_key_id
  union all
  select 'checkout_secret', data_key_id, count(*)
  from tollgate.checkout_secret
  group by data_key_id
  union all
  select 'settlement_part', data_key_id, count(*)
  from tollgate.settlement_part
  group by data_key_id
  union all
  select 'report_destination', data_key_id, count(*)
  from tollgate.report_destination
  group by data_key_id
  union all
  select 'server_key', data_key_id, count(*)
  from tollgate.server_key
  group by data_key_id`

const keyName = /^[0-9a-f]{32}$/

/**
 * A constraint by which Postgres refuses new rows under this key from every process, at almost no cost.
 * Does not check existing rows.
 */
export function fenceText(table: Purpose, keyId: string): string {
  if (!keyName.test(keyId)) throw new Error('a data key id has 32 hex characters')
  return `alter table tollgate.${table} add constraint not_under_${keyId} check (data_key_id <> '${keyId}'::uuid) not valid`
}

/** Checks all existing rows without blocking other statements. Fails with 23514 if a row is under the key. */
export function proveText(table: Purpose, keyId: string): string {
  if (!keyName.test(keyId)) throw new Error('a data key id has 32 hex characters')
  return `alter table tollgate.${table} validate constraint not_under_${keyId}`
}
