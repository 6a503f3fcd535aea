/** SQL of checkouts. The first commit of a payment takes the slot: core/payment/store-in-checkout.ts. */
import type { Mode } from '../connector/registry.ts'
import { sql } from '../db/sql.ts'
import type { StoredRequest } from '../payment/types.ts'
import type { Sealed } from '../vault/vault.ts'
import type { Checkout } from './types.ts'

type CheckoutRow = {
  id: string
  entity_id: string
  clock_id: string | null
  kind: Checkout['kind']
  mode: Mode
  request: StoredRequest
  registrations: string[]
  script_hash: string | null
  created_at: Date
  expires_at: Date
  version: number
  payment_id: string | null
  earlier: string[]
  nonces: string[]
  ended: string[]
  refusals: number
  removed_at: Date | null
  secret_id: string | null
}

/** The id of a checkout's sealed numbers is the random part of its own. */
export const secretIdOf = (checkoutId: string): string => checkoutId.slice(0, 32).toLowerCase()

export const checkoutById = (id: string) => sql<CheckoutRow>`
  select checkout.id, checkout.entity_id, checkout.clock_id, checkout.kind, checkout.mode, checkout.request,
    checkout.registrations, checkout.script_hash, checkout.created_at, checkout.expires_at, checkout.version,
    checkout.payment_id, checkout.earlier, checkout.nonces, checkout.ended, checkout.refusals,
    checkout.removed_at, checkout_secret.id as secret_id
  from tollgate.checkout
  left join tollgate.checkout_secret on checkout_secret.id = ${secretIdOf(id)}::uuid
  where checkout.id = ${id}::text`

export function toCheckout(row: CheckoutRow): Checkout {
  return {
    id: row.id,
    entityId: row.entity_id,
    clockId: row.clock_id,
    kind: row.kind,
    mode: row.mode,
    request: row.request,
    registrations: row.registrations,
    scriptHash: row.script_hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    version: row.version,
    paymentId: row.payment_id,
    earlier: row.earlier,
    nonces: row.nonces,
    ended: row.ended,
    refusals: row.refusals,
    removedAt: row.removed_at,
    secretId: row.secret_id,
  }
}

export const sealedOf = (secretId: string) => sql<{ data_key_id: string; sealed: Buffer }>`
  select data_key_id, sealed
  from tollgate.checkout_secret
  where id = ${secretId}::uuid`

/** @param sealed null: the request has no numbers to seal. */
export const addCheckout = (checkout: Checkout, sealed: Sealed | null) => sql<{ id: string }>`
with new_secret as (
  insert into tollgate.checkout_secret (id, entity_id, data_key_id, sealed)
  select ${secretIdOf(checkout.id)}::uuid, ${checkout.entityId}::uuid, ${sealed?.dataKeyId ?? null}::uuid,
    ${sealed?.sealed ?? null}::bytea
  where ${sealed !== null}::boolean)
insert into tollgate.checkout (id, entity_id, clock_id, kind, mode, request, registrations, script_hash,
  created_at, expires_at)
values (${checkout.id}::text, ${checkout.entityId}::uuid, ${checkout.clockId}::uuid, ${checkout.kind}::text,
  ${checkout.mode}::text, ${JSON.stringify(checkout.request)}::jsonb, ${checkout.registrations}::uuid[],
  ${checkout.scriptHash}::text, ${checkout.createdAt}::timestamptz, ${checkout.expiresAt}::timestamptz)
returning id`

/** Empty when the checkout changed since it was read: another version, or another payment. */
export const changeCheckout = (checkout: Checkout, sealed: Sealed | null) => sql<{ id: string }>`
with changed as (
  update tollgate.checkout set request = ${JSON.stringify(checkout.request)}::jsonb,
    registrations = ${checkout.registrations}::uuid[], kind = ${checkout.kind}::text, version = version + 1
  where id = ${checkout.id}::text and version = ${checkout.version}::integer and removed_at is null
    and payment_id is not distinct from ${checkout.paymentId}::uuid
  returning id),
gone as (
  delete from tollgate.checkout_secret
  using changed
  where checkout_secret.id = ${secretIdOf(checkout.id)}::uuid and ${sealed === null}::boolean),
new_secret as (
  insert into tollgate.checkout_secret (id, entity_id, data_key_id, sealed)
  select ${secretIdOf(checkout.id)}::uuid, ${checkout.entityId}::uuid, ${sealed?.dataKeyId ?? null}::uuid,
    ${sealed?.sealed ?? null}::bytea
  from changed where ${sealed !== null}::boolean
  on conflict (id) do update set data_key_id = excluded.data_key_id, sealed = excluded.sealed)
select id from changed`

/** The same for a removal, which also erases what was sealed. */
export const removeCheckout = ({ id, version, paymentId }: Checkout, at: Date) => sql<{
  id: string
}>`
with removed as (
  update tollgate.checkout set removed_at = ${at}::timestamptz, version = version + 1
  where id = ${id}::text and version = ${version}::integer and removed_at is null
    and payment_id is not distinct from ${paymentId}::uuid
  returning id),
gone as (
  delete from tollgate.checkout_secret
  using removed
  where checkout_secret.id = ${secretIdOf(id)}::uuid)
select id from removed`

/**
 * Counts a try that was refused before it became a payment; the same press sent again is no further try.
 *
 * @param digest of the press.
 */
export const countRefusal = (id: string, digest: Buffer) => sql<{ refusals: number }>`
  update tollgate.checkout set refusals = refusals + 1, refused = refused || ${digest}::bytea
  where id = ${id}::text and ${digest}::bytea <> all(refused)
  returning refusals`

/** Whether this very press was refused and counted before. @param digest of the press. */
export const wasRefused = (id: string, digest: Buffer) => sql<{ was: boolean }>`
  select ${digest}::bytea = any(refused) as was
  from tollgate.checkout
  where id = ${id}::text`

/**
 * Ends a press after the soft decline of its first payment. Empty when its second payment has the slot by now, or
 * the press had ended. The new version keeps a second payment that is under way from its first commit.
 */
export const endPress = (id: string, firstId: string, nonce: string) => sql<{ id: string }>`
  update tollgate.checkout set ended = ended || ${nonce}::text, version = version + 1
  where id = ${id}::text and payment_id = ${firstId}::uuid and ${nonce}::text <> all(ended)
  returning id`

/** Sealed numbers of checkouts that nobody can pay any more. */
export const purgeSecrets = (before: Date, limit: number) => sql<{ id: string }>`
  delete from tollgate.checkout_secret
  where id in (
    select checkout_secret.id
    from tollgate.checkout_secret
    where made_at < ${before}::timestamptz
      and not exists (
        select from tollgate.checkout
        where checkout.clock_id is not null and checkout.removed_at is null
          and checkout.id like upper(replace(checkout_secret.id::text, '-', '')) || '.%')
    limit ${limit}::integer)
  returning id`

/** Checkouts without any payment; others are kept with their payments. */
export const purgeCheckouts = (before: Date, limit: number) => sql<{ id: string }>`
  delete from tollgate.checkout
  where id in (
    select id
    from tollgate.checkout
    where made_at < ${before}::timestamptz and payment_id is null
    limit ${limit}::integer)
  returning id`

/** The state of an attempt. */
export const attemptStateOf = (key: string) => sql<{ state: string }>`
  select state
  from tollgate.attempt
  where key = ${key}::text`
