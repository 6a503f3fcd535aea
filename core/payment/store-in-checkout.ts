/** The first commit of a payment in a checkout, which takes the checkout's one slot. */
import { grouped, type RowOf, text } from '../db/group-statement.ts'
import { sql } from '../db/sql.ts'
import {
  type AcceptRow,
  acceptColumns,
  registered,
  registeringColumns,
  written,
} from './store-first.ts'
import { withoutMoney } from './stored-earlier-tries.ts'

const slot = {
  slot_version: 'integer',
  slot_previous: 'uuid',
  slot_nonce: 'text',
  slot_tries: 'integer',
  slot_at: 'timestamptz',
  callback_id: 'uuid',
  callback_at: 'timestamptz',
} as const

const columns = { ...acceptColumns, ...slot } as const
const columnsRegistering = { ...registeringColumns, ...slot } as const

export type SlotColumns = RowOf<typeof slot>
export type SlotRow = AcceptRow & SlotColumns

const order = 'checkout_id, id'

const taken = `update tollgate.checkout set payment_id = given.id,
    earlier = case when given.slot_previous is null then earlier else earlier || given.slot_previous end,
    nonces = nonces || given.slot_nonce
  from given
  where checkout.id = given.checkout_id and checkout.payment_id is not distinct from given.slot_previous`

/** The payments before, locked: a late success of one counts until this commit. */
const formers = `,
former as materialized (
  select given.id, payment.id as payment_id, attempt.state
  from given
  join tollgate.checkout on checkout.id = given.checkout_id
  cross join lateral unnest(checkout.earlier || given.slot_previous) as before(id)
  join tollgate.payment on payment.id = before.id
  join tollgate.attempt on attempt.key = payment.attempt_key
  for share of attempt)`

const formersAreOver = `(given.slot_previous is null or exists (
      select from former
      join tollgate.payment on payment.id = former.payment_id
      where former.id = given.id and former.payment_id = given.slot_previous
        and payment.state in ('declined', 'expired')))
    and not exists (
      select from former
      where former.id = given.id and former.state not in ${withoutMoney.strings[0]})`

/**
 * The row writes only when the checkout is as it was read: same version, same previous payment,
 * declined for good like all before it; not removed, not expired, with a try left. The
 * second payment of a press is no further try.
 */
const onlyInSlot = `${formers},
slot as (
  ${taken} and checkout.version = given.slot_version
    and checkout.removed_at is null and checkout.expires_at > given.slot_at
    and (select count(distinct nonce) from unnest(checkout.nonces || given.slot_nonce) as press(nonce))
      + checkout.refusals <= given.slot_tries
    and ${formersAreOver}
  returning checkout.payment_id),
accepted as (
  select * from given
  where id in (select payment_id from slot))`

/** A payment that was sent is written in any case, and takes the slot where no other has it. */
const inSlotIfFree = `${formers},
slot as (
  ${taken} and ${formersAreOver}
  returning checkout.payment_id),
accepted as (
  select * from given)`

const callback = `,
new_callback as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select callback_id, callback_at, 'callback', replace(id::text, '-', ''), clock_id
  from accepted where callback_at is not null
  on conflict (kind, ref) do nothing)
select id from new_payment`

export const acceptInCheckout = grouped<typeof columns, { id: string }>(
  'accept-in-checkout',
  columns,
  order,
  text(`${onlyInSlot}${written}${callback}`),
)

export const acceptInCheckoutRegistering = grouped<typeof columnsRegistering, { id: string }>(
  'accept-in-checkout-registering',
  columnsRegistering,
  order,
  text(`${onlyInSlot}${written}${registered}${callback}`),
)

export const recoverInCheckout = grouped<typeof columns, { id: string }>(
  'recover-in-checkout',
  columns,
  order,
  text(`${inSlotIfFree}${written}${callback}`),
)

export const recoverInCheckoutRegistering = grouped<typeof columnsRegistering, { id: string }>(
  'recover-in-checkout-registering',
  columnsRegistering,
  order,
  text(`${inSlotIfFree}${written}${registered}${callback}`),
)

/** The payment in the slot of a checkout. */
export const holderOfSlot = (checkoutId: string) => sql<{ payment_id: string | null }>`
  select payment_id
  from tollgate.checkout
  where id = ${checkoutId}::text`

/** Whether the payment has the slot of its checkout, and no payment before it holds money. */
export const mayPayCheckout = (checkoutId: string, paymentId: string) => sql<{ may: boolean }>`
  select exists (
      select from tollgate.checkout
      where id = ${checkoutId}::text and payment_id = ${paymentId}::uuid)
    and not exists (${holdsMoney(checkoutId)}) as may`

/** Payments of a checkout before the present one that hold money: late successes. */
export const holdsMoney = (checkoutId: string) => sql<{ id: string }>`
  select before.id
  from tollgate.checkout
  cross join lateral unnest(checkout.earlier) as before(id)
  join tollgate.payment on payment.id = before.id
  join tollgate.attempt on attempt.key = payment.attempt_key
  where checkout.id = ${checkoutId}::text and attempt.state not in ${withoutMoney}`
