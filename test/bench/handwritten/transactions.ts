/** The usual storage of handlers: two transactions, one statement for each table. */
import type pg from 'pg'
import { keyId, type Payment, type Store } from './payment.ts'

const texts = {
  payment: `insert into payment (id, channel_id, amount_minor, currency, payment_type, brand,
      merchant_transaction_id, state, result_code)
    values ($1, $2, $3, $4, $5, $6, $7, 'processing', '000.200.001')`,
  request: 'insert into payment_request (id, request) values ($1, $2)',
  instrument: 'insert into instrument (id, key_id, sealed) values ($1, $2, $3)',
  attempt: `insert into attempt (key, payment_id, state) values ($1, $2, 'sending')`,
  settleAttempt: `update attempt set state = $2 where key = $1 and state = 'sending'`,
  settlePayment: `update payment set state = $2, result_code = $3, answer = $4, settled_at = now()
    where id = $1`,
  balance: 'insert into payment_balance (payment_id, captured) values ($1, $2)',
  event: 'insert into event (id, resource, type, data) values ($1, $2, $3, $4)',
}

export function transactions(pool: pg.Pool): Store {
  async function transaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await work(client)
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
  return {
    accept: (payment: Payment) =>
      transaction(async (client) => {
        await client.query(texts.payment, [
          payment.id,
          payment.channelId,
          payment.amountMinor,
          payment.currency,
          payment.paymentType,
          payment.brand,
          payment.merchantTransactionId,
        ])
        await client.query(texts.request, [payment.id, payment.request])
        await client.query(texts.instrument, [payment.id, keyId, payment.sealed])
        await client.query(texts.attempt, [payment.id, payment.id])
      }),
    settle: (payment, { state, code, reference }, eventId) =>
      transaction(async (client) => {
        const moved = await client.query(texts.settleAttempt, [payment.id, state])
        if (moved.rowCount !== 1) throw new Error('somebody else settled this payment')
        await client.query(texts.settlePayment, [
          payment.id,
          state,
          code,
          JSON.stringify({ reference }),
        ])
        if (state === 'approved') {
          await client.query(texts.balance, [payment.id, payment.amountMinor])
        }
        await client.query(texts.event, [
          eventId,
          payment.id,
          `payment.${state}`,
          JSON.stringify({ paymentType: payment.paymentType, state, code }),
        ])
      }),
  }
}
