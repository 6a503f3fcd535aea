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

const slot = {
  slot_version: 'integer',
  slot_previous: 'uuid',
  slot_nonce: 'text',
  slot_tries: 'integer',
  slot_at: 'timestamptz',
  slot_result_url: 'text',
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
    nonces = nonces || given.slot_nonce,
    result_url = coalesce(given.slot_result_url, result_url)
  from given
  where checkout.id = given.checkout_id and checkout.payment_id is not distinct from given.slot_previous`

/** The previous payment must hold no money: a late success may have moved some. */
const previousIsOver = `(given.slot_previous is null or exists (
      select from tollgate.payment previous
      join tollgate.attempt former on former.key = previous.attempt_key
      where previous.id = given.slot_previous and previous.state in ('declined', 'expired')
        and former.state <> 'late'))`

/**
 * The row writes only when the checkout is as it was read: same version, same previous payment,
 * which was declined for good; not removed, not expired, with a try left.
 */
const onlyInSlot = `,
slot as (
  ${taken} and checkout.version = given.slot_version
    and checkout.removed_at is null and checkout.expires_at > given.slot_at
    and cardinality(checkout.earlier) + checkout.refusals
      + case when given.slot_previous is null then 0 else 1 end < given.slot_tries
    and ${previousIsOver}
  returning checkout.payment_id),
accepted as (
  select * from given
  where id in (select payment_id from slot))`

/** A payment that was sent is written in any case, and takes the slot where no other has it. */
const inSlotIfFree = `,
slot as (
  ${taken} and ${previousIsOver}
  returning checkout.payment_id),
accepted as (
  select * from given)`

const callback = `,
new_callback as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select callback_id, callback_at, 'callback', checkout_id, clock_id
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
