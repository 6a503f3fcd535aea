/** The step from authentication to money. */
import { sql } from '../db/sql.ts'
import { withoutMoney } from './stored-earlier-tries.ts'
import type { AttemptState, Stage } from './types.ts'

/**
 * Goes on to the money, under the lease of the authentication. From this commit on the attempt is one
 * that may have been sent: with a time of its own, a lease of its own, and no timer of the time before.
 * In a checkout only the payment in the slot goes on, and while no earlier one holds money. The locks
 * make a late success count until this commit.
 */
export const goOnToMoney = (
  key: string,
  lease: number,
  leaseMs: number,
  paymentId: string,
  checkoutId: string | null,
  answer: string,
) => sql<{ lease: number }>`
with former as materialized (
  select attempt.state
  from tollgate.checkout
  cross join lateral unnest(checkout.earlier) as before(id)
  join tollgate.payment on payment.id = before.id
  join tollgate.attempt on attempt.key = payment.attempt_key
  where checkout.id = ${checkoutId}::text
  for share of attempt),
gone_on as (
  update tollgate.attempt set stage = 'money', state = 'sending', lease = lease + 1, sent_at = now(),
    lease_until = now() + ${leaseMs}::integer * interval '1 millisecond', returned_at = null,
    settled_by = null, enquiries = 0, questions = 0
  where key = ${key}::text and lease = ${lease}::integer and lease_until is not null
    and stage = 'authentication' and state in ('sending', 'pending', 'unknown')
    and (${checkoutId}::text is null or exists (
      select from tollgate.checkout
      where checkout.id = ${checkoutId}::text and checkout.payment_id = ${paymentId}::uuid))
    and not exists (
      select from former
      where former.state not in ${withoutMoney})
  returning key, lease),
payment_moved as (
  update tollgate.payment set state = 'processing', result_code = '000.200.001', answer = ${answer}::jsonb
  from gone_on
  where payment.id = ${paymentId}::uuid),
ended_timers as (
  delete from tollgate.timer
  using gone_on
  where timer.ref = gone_on.key and timer.kind in ('look', 'expire'))
select lease from gone_on`

/** Stage, state and lease of an attempt. */
export const stageOf = (key: string) => sql<{ stage: Stage; state: AttemptState; lease: number }>`
  select stage, state, lease
  from tollgate.attempt
  where key = ${key}::text`

/** The shopper left again, or nothing was concluded: the payment waits for the shopper as before. */
export const waitForShopper = (key: string, lease: number) => sql<{ key: string }>`
with waiting as (
  update tollgate.attempt set lease_until = null, returned_at = null
  where key = ${key}::text and lease = ${lease}::integer and stage = 'authentication'
    and state in ('sending', 'pending', 'unknown')
  returning key),
ended_look as (
  delete from tollgate.timer
  using waiting
  where timer.ref = waiting.key and timer.kind = 'look')
select key from waiting`
