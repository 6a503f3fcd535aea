/** Chargebacks: recorded when the acquirer reports them, or posted to the simulator in a test. */
import { paymentTypes } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { InboundRow } from '../inbound/store.ts'
import { formatAmount } from '../money.ts'
import { addAttention } from '../operator/store.ts'
import { acceptFollowUp } from './follow-up.ts'
import { idempotencyForStep } from './idempotency.ts'
import { settle } from './settle.ts'
import { balanceById, paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'
import type { Work } from './work.ts'

const typeOf = (code: string) => paymentTypes.find((type) => type.code === code)!

/** The money has moved already: nothing is sent, the record is final at once. */
export async function settleLocally(engine: Engine, work: Work): Promise<Payment> {
  const refs = work.operation.original?.refs ?? {}
  return (await settle(engine, work, { is: 'approved', refs }, 'event')).payment
}

/** Records what an acquirer reported. It is never refused: beyond the rules it goes on the operators' list. */
export async function recordChargeback(
  engine: Engine,
  payment: Payment,
  is: 'chargeback' | 'chargebackReversal',
  row: InboundRow,
): Promise<void> {
  const code = is === 'chargeback' ? 'CB' : 'CR'
  const { claim } = row
  const reason = claim.outcome.reason
  const fields = {
    paymentType: code,
    amount: formatAmount(BigInt(claim.minor), claim.currency),
    currency: claim.currency,
    ...(typeof reason === 'string' ? { chargebackResultCode: reason } : {}),
  }
  try {
    const target = code === 'CB' ? payment : await standingChargeback(engine, payment)
    const accepted = await acceptFollowUp(
      engine,
      target,
      typeOf(code),
      { fields, names: [] },
      idempotencyForStep(engine, payment.id, `${code} ${row.event_id}`),
      'acquirer',
    )
    if (!('work' in accepted)) return
    await settleLocally(engine, accepted.work)
    if (code === 'CB') await tellIfBeyond(engine, target, row)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    await engine.lanes.single(
      addAttention(newId(), 'beyond-sums', payment.id, payment.attemptKey, 0, {
        reported: code,
        event: row.event_id,
        refused: error.code,
        minor: claim.minor,
        currency: claim.currency,
      }),
    )
  }
}

/** More was charged back than was left of the payment: the merchant lost it twice until somebody acts. */
async function tellIfBeyond(engine: Engine, payment: Payment, row: InboundRow): Promise<void> {
  const [balance] = await engine.lanes.single(balanceById(payment.rootId))
  if (balance === undefined) return
  const left =
    balance.captured - balance.refunded - balance.refunding - balance.reversed - balance.reversing
  if (BigInt(row.claim.minor) <= left) return
  await engine.lanes.single(
    addAttention(newId(), 'beyond-sums', payment.id, payment.attemptKey, 0, {
      reported: 'CB',
      event: row.event_id,
      minor: row.claim.minor,
      currency: row.claim.currency,
      leftMinor: String(left),
    }),
  )
}

async function standingChargeback(engine: Engine, payment: Payment): Promise<Payment> {
  const [balance] = await engine.lanes.single(balanceById(payment.rootId))
  const id = balance?.charged_back_by
  const [row] = id == null ? [] : await engine.lanes.single(paymentById(id, null))
  if (row === undefined) throw new GatewayError('700.400.420')
  return toPayment(row)
}
