/** The fastest storage by hand: each commit is one prepared statement. */
import type pg from 'pg'
import { keyId, type Payment, type Store, type Verdict } from './payment.ts'

/** First commit. $1 is the payment's id, $11 the attempt's key. */
export const accept = `with
  p as (insert into payment (id, channel_id, amount_minor, currency, payment_type, brand,
      merchant_transaction_id, state, result_code)
    values ($1, $2, $3, $4, $5, $6, $7, 'processing', '000.200.001')),
  q as (insert into payment_request (id, request) values ($1, $8)),
  i as (insert into instrument (id, key_id, sealed) values ($1, $9, $10))
  insert into attempt (key, payment_id, state) values ($11, $1, 'sending')`

/** Second commit. $2 is the event's id. */
export const settle = `with
  a as (update attempt set state = $3 where key = $1 and state = 'sending' returning payment_id),
  p as (update payment set state = $3, result_code = $4, answer = $5, settled_at = now()
    from a where id = a.payment_id returning id, amount_minor),
  b as (insert into payment_balance (payment_id, captured)
    select id, amount_minor from p where $3 = 'approved')
  insert into event (id, resource, type, data) select $2, id, $6, $7 from p`

/** Parameters of `accept`. */
export function acceptValues(payment: Payment): unknown[] {
  return [
    payment.id,
    payment.channelId,
    payment.amountMinor,
    payment.currency,
    payment.paymentType,
    payment.brand,
    payment.merchantTransactionId,
    payment.request,
    keyId,
    payment.sealed,
    payment.id,
  ]
}

/** Parameters of `settle`. */
export function settleValues(payment: Payment, verdict: Verdict, eventId: string): unknown[] {
  const { state, code, reference } = verdict
  const answer = JSON.stringify({ reference })
  const data = JSON.stringify({ paymentType: payment.paymentType, state, code })
  return [payment.id, eventId, state, code, answer, `payment.${state}`, data]
}

export function statements(pool: pg.Pool): Store {
  return {
    async accept(payment) {
      await pool.query({ name: 'accept', text: accept, values: acceptValues(payment) })
    },
    async settle(payment, verdict, eventId) {
      const values = settleValues(payment, verdict, eventId)
      const moved = await pool.query({ name: 'settle', text: settle, values })
      if (moved.rowCount !== 1) throw new Error('somebody else settled this payment')
    },
  }
}
